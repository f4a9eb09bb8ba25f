/* SPDX-License-Identifier: Apache-2.0 */
/* Batch scripts: what is refused, what --wrap makes, how #SBATCH lines are cut into words. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/options.h"
#include "client/script.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static const struct {
	const char *text;
	const char *part; /* of the refusal; NULL: fine */
} checks[] = {
	{ "#!/bin/sh\ntrue\n", NULL },
	{ "#!/bin/sh", NULL },
	{ "", "is empty" },
	{ "echo hi\n", "first line must be #!" },
	{ " #!/bin/sh\n", "first line must be #!" },
	{ "#!/bin/bash\r\necho hi\r\n", "DOS line ends" },
	{ "#!/bin/bash\necho 'a\rb'\n", NULL },
};

static void scripts_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(checks); i++) {
		struct script s = { .name = "job.sh",
				    .text = (char *)checks[i].text,
				    .len = strlen(checks[i].text) };
		struct error err = {};
		int r = script_check(&s, &err);
		if ((r < 0) != (checks[i].part != NULL) ||
		    (r < 0 && !strstr(err.text, checks[i].part)))
			fail_msg("case %zu: %d '%s'", i, r, err.text);
	}
	struct script zero = { .name = "job.sh", .text = (char *)"#!/bin/sh\n\0\n", .len = 12 };
	assert_int_equal(script_check(&zero, NULL), -EINVAL);
}

static void wrap_makes_a_script(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct script s;
	script_wrap("hostname; true", a, &s);
	assert_string_equal(
		s.text,
		"#!/bin/sh\n# This script was created by sbatch --wrap.\n\nhostname; true\n");
	assert_int_equal(s.len, strlen(s.text));
	assert_string_equal(s.name, "wrap");
	assert_int_equal(script_check(&s, NULL), 0);
}

static const struct {
	const char *text, *expect; /* uses as "name=value|..." */
} lines[] = {
	{ "#!/bin/sh\n#SBATCH -N2\n#SBATCH --mem=1G\n", "nodes=2|mem=1G|" },
	{ "#!/bin/sh\n\n# note\n#SBATCH -N2\n", "nodes=2|" },
	{ "#!/bin/sh\n#SBATCH -N2\ntrue\n#SBATCH -N3\n", "nodes=2|" },
	{ "#!/bin/sh\n  true\n#SBATCH -N3\n", "" },
	{ "#!/bin/sh\n##SBATCH -N3\n# SBATCH -N4\n#SBATCHX -N5\n #SBATCH -N6\n", "" },
	{ "#!/bin/sh\n#SBATCH -J 'a b' --comment=\"c 'd'\"\n", "job-name=a b|comment=c 'd'|" },
	{ "#!/bin/sh\n#SBATCH -J a\\ b\t-N2 # two\n", "job-name=a b|nodes=2|" },
	{ "#!/bin/sh\n#SBATCH --comment=a#b -N 2\n", "comment=a#b|nodes=2|" },
	{ "#!/bin/sh\n#SBATCH -o $HOME/x.%j\n", "output=$HOME/x.%j|" },
	{ "#!/bin/sh\n#SBATCH --hold --exclusive -N2", "hold=|exclusive=|nodes=2|" },
	{ "#!/bin/sh\n#SBATCH\n#SBATCH   \n#SBATCH -N2\n", "nodes=2|" },
};

static void lines_are_cut_into_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		struct script s = { .name = "job.sh",
				    .text = (char *)lines[i].text,
				    .len = strlen(lines[i].text) };
		struct options o;
		struct error err = {};
		options_init(&o, OPTION_CMDS_SBATCH, 0, a);
		if (script_scan(&s, &o, &err) < 0)
			fail_msg("case %zu: %s", i, err.text);
		for (size_t n = 0; n < o.uses.count; n++)
			buf_printf(&got, "%s=%s|", o.uses.at[n].row->long_name,
				   o.uses.at[n].value ? o.uses.at[n].value : "");
		if (!str_eq(buf_text(&got), lines[i].expect))
			fail_msg("case %zu gives %s", i, buf_text(&got));
		options_done(&o);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void scripts_are_found(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	char dir[] = "/tmp/muster-script-XXXXXX";
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("bin", 0755), 0);
	write_file("here.sh", "#!/bin/sh\nhere\n");
	write_file("bin/there.sh", "#!/bin/sh\nthere\n");
	write_file("bin/here.sh", "#!/bin/sh\nwrong\n");

	struct script s;
	struct error err = {};
	const char *path = arena_printf(a, "/nowhere:%s/bin", dir);
	assert_int_equal(script_load("here.sh", path, a, &s, &err), 0);
	assert_string_equal(s.text, "#!/bin/sh\nhere\n");
	assert_string_equal(s.path, arena_printf(a, "%s/here.sh", dir));
	assert_int_equal(script_load("there.sh", path, a, &s, &err), 0);
	assert_string_equal(s.text, "#!/bin/sh\nthere\n");
	assert_int_equal(script_load("bin/there.sh", NULL, a, &s, &err), 0);
	assert_int_equal(script_load("nosuch.sh", path, a, &s, &err), -ENOENT);
	assert_string_equal(err.text, "there is no script 'nosuch.sh' here or in PATH");
	assert_int_equal(script_load("./bin", path, a, &s, &err), -EISDIR);

	int fd = open("big.sh", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(ftruncate(fd, SCRIPT_MAX + 1), 0);
	close(fd);
	assert_int_equal(script_load("big.sh", path, a, &s, &err), -EFBIG);
	assert_string_equal(err.text, "the script 'big.sh' is longer than 4 MiB");
	fd = open("big.sh", O_RDONLY);
	assert_int_equal(script_read_fd(fd, a, &s, &err), -EFBIG);
	close(fd);
	fd = open("here.sh", O_RDONLY);
	assert_int_equal(script_read_fd(fd, a, &s, &err), 0);
	assert_string_equal(s.text, "#!/bin/sh\nhere\n");
	close(fd);
	const char *files[] = { "here.sh", "bin/there.sh", "bin/here.sh", "big.sh" };
	for (size_t i = 0; i < ARRAY_COUNT(files); i++)
		assert_int_equal(unlink(files[i]), 0);
	assert_int_equal(rmdir("bin"), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_are_checked),
		cmocka_unit_test(wrap_makes_a_script),
		cmocka_unit_test(lines_are_cut_into_words),
		cmocka_unit_test(scripts_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
