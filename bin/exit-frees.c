/* SPDX-License-Identifier: Apache-2.0 */
/* exit-frees.c - linked into programs whose memory ends with them, in builds with a sanitizer only. */

const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
