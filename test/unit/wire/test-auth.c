/* SPDX-License-Identifier: Apache-2.0 */
/* auth/slurm: what is accepted, what is refused and in which words. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "schema/errors.h"
#include "wire/auth.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const usec_t NOW = 1700000000 * USEC_PER_SEC;

struct fixture {
	char dir[64], key[128], other_key[128];
};

static struct auth *open_auth(const char *key, const char *cluster)
{
	struct auth *a = NULL;
	struct error err = {};
	struct auth_options o = { .type = "auth/slurm", .key_path = key, .cluster = cluster };
	if (auth_new(&o, &a, &err) < 0)
		fail_msg("%s", err.text);
	return a;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/test-auth.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->key, sizeof(f->key), "%s/key", f->dir);
	snprintf(f->other_key, sizeof(f->other_key), "%s/other", f->dir);
	*state = f;
	return auth_make_key(f->key, NULL) < 0 || auth_make_key(f->other_key, NULL) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unlink(f->key);
	unlink(f->other_key);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void sign_at(struct auth *a, usec_t now, struct buf *ret)
{
	assert_int_equal(auth_sign(a, &(struct identity) { 1234, 100 }, now, ret, NULL), 0);
}

static void a_token_names_its_user_once(void **state)
{
	struct fixture *f = *state;
	struct auth *signer = open_auth(f->key, "c1"), *verifier = open_auth(f->key, "c1");
	AUTO_BUF struct buf token = {};
	sign_at(signer, NOW, &token);
	struct identity who = {};
	struct error err = {};
	assert_int_equal(auth_verify(verifier, token.data, token.len, NOW + 5, &who, &err), 0);
	assert_int_equal(who.uid, 1234);
	assert_int_equal(who.gid, 100);
	assert_int_equal(auth_verify(verifier, token.data, token.len, NOW + 6, &who, &err),
			 -E_AUTH);
	assert_string_equal(err.text,
			    "Protocol authentication error: this credential was used before; "
			    "each is accepted once");
	assert_true(auth_can_vouch(signer) && !auth_may_block(signer));
	auth_free(signer);
	auth_free(verifier);
}

static void times_are_checked(void **state)
{
	struct fixture *f = *state;
	const struct {
		int later_sec;
		int code;
		const char *part;
	} cases[] = {
		{ 0, 0, "" },
		{ 60, 0, "" },
		{ 89, 0, "" },
		{ -29, 0, "" },
		{ 100, -E_AUTH,
		  "expired 40 s ago: it is good for 60 s, and 30 s more if the clocks differ" },
		{ 86400, -E_AUTH, "expired 86340 s ago" },
		{ -31, -E_AUTH,
		  "31 s in the future: the clocks differ by more than the 30 s allowed" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct auth *a = open_auth(f->key, "c1");
		AUTO_BUF struct buf token = {};
		struct identity who;
		struct error err = {};
		sign_at(a, NOW, &token);
		int r = auth_verify(a, token.data, token.len,
				    NOW + cases[i].later_sec * USEC_PER_SEC, &who, &err);
		assert_int_equal(r, cases[i].code);
		if (!strstr(err.text, cases[i].part))
			fail_msg("'%s' lacks '%s'", err.text, cases[i].part);
		auth_free(a);
	}
}

static void others_are_refused(void **state)
{
	struct fixture *f = *state;
	const struct {
		const char *key, *cluster, *part;
	} cases[] = {
		{ f->other_key, "c1", "signature is wrong; both sides need the same key file" },
		{ f->key, "c2", "the credential is for cluster 'c2', this is cluster 'c1'" },
		{ f->key, "", "the credential is for cluster '', this is cluster 'c1'" },
	};
	struct auth *verifier = open_auth(f->key, "c1");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct auth *a = open_auth(cases[i].key, cases[i].cluster);
		AUTO_BUF struct buf token = {};
		struct identity who = { 77, 77 };
		struct error err = {};
		sign_at(a, NOW, &token);
		assert_int_equal(auth_verify(verifier, token.data, token.len, NOW, &who, &err),
				 -E_AUTH);
		assert_non_null(strstr(err.text, cases[i].part));
		assert_int_equal(who.uid, 77); /* untouched */
		auth_free(a);
	}
	auth_free(verifier);
}

static void rubbish_is_refused(void **state)
{
	struct fixture *f = *state;
	struct auth *a = open_auth(f->key, "c1");
	AUTO_BUF struct buf token = {};
	struct identity who;
	struct error err = {};
	assert_int_equal(auth_verify(a, "", 0, NOW, &who, &err), -E_AUTH);
	assert_non_null(strstr(err.text, "a credential is needed and none was sent"));
	assert_int_equal(auth_verify(a, "MUNGE:AwQFAAD9:", 15, NOW, &who, &err), -E_AUTH);
	assert_non_null(strstr(err.text, "both sides need the same AuthType"));
	sign_at(a, NOW, &token);
	for (size_t cut = 0; cut < token.len; cut++)
		assert_int_equal(auth_verify(a, token.data, cut, NOW, &who, NULL), -E_AUTH);
	for (size_t i = 0; i < token.len * 8; i++) { /* no bit can be changed */
		token.data[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_int_equal(auth_verify(a, token.data, token.len, NOW, &who, NULL), -E_AUTH);
		token.data[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(auth_verify(a, token.data, token.len, NOW, &who, NULL), 0);
	auth_free(a);
}

/* Signs and verifies while the clock goes on: each is accepted once, whatever was forgotten. */
static void replays_are_refused_as_long_as_they_live(void **state)
{
	struct fixture *f = *state;
	struct auth *a = open_auth(f->key, "c1");
	enum { COUNT = 400 };
	struct buf tokens[COUNT] = {};
	struct identity who;
	for (int i = 0; i < COUNT; i++) {
		usec_t now = NOW + i * USEC_PER_SEC;
		sign_at(a, now, &tokens[i]);
		assert_int_equal(auth_verify(a, tokens[i].data, tokens[i].len, now, &who, NULL), 0);
		for (int old = 0; old <= i; old += 7)
			assert_int_equal(
				auth_verify(a, tokens[old].data, tokens[old].len, now, &who, NULL),
				-E_AUTH);
	}
	for (int i = 0; i < COUNT; i++)
		buf_done(&tokens[i]);
	auth_free(a);
}

static void key_files_must_be_private(void **state)
{
	struct fixture *f = *state;
	const struct {
		mode_t mode;
		size_t size;
		int code;
		const char *part;
	} cases[] = {
		{ 0600, 64, 0, "" },
		{ 0400, 32, 0, "" },
		{ 0604, 64, -EACCES,
		  "has mode 0604, so other users could use it to pass for anyone: run "
		  "chmod 600 " },
		{ 0602, 64, -EACCES, "run chmod 600 " },
		{ 0620, 64, -EACCES, "run chmod 600 " },
		{ 0600, 31, -EINVAL, "has 31 bytes, a key has 32 to 65536" },
		{ 0600, 0, -EINVAL, "has 0 bytes" },
	};
	char path[160];
	snprintf(path, sizeof(path), "%s/mode", f->dir);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_FD int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
		assert_true(fd >= 0 && ftruncate(fd, (off_t)cases[i].size) == 0);
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		struct auth *a = NULL;
		struct error err = {};
		struct auth_options o = { .type = "auth/slurm", .key_path = path, .cluster = "c1" };
		assert_int_equal(auth_new(&o, &a, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].part));
		auth_free(a);
		unlink(path);
	}
	struct auth *a = NULL;
	struct error err = {};
	struct auth_options o = { .type = "auth/slurm", .key_path = f->dir, .cluster = "c1" };
	assert_int_equal(auth_new(&o, &a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is not a regular file"));
	o.key_path = path;
	assert_int_equal(auth_new(&o, &a, &err), -ENOENT);
	o.type = "auth/none";
	assert_int_equal(auth_new(&o, &a, &err), -EINVAL);
	assert_string_equal(err.text,
			    "AuthType 'auth/none' is not known, use auth/slurm or auth/munge");
}

/* SlurmUser's own key is good for a node daemon of root too, anybody else's is not. */
static void key_files_belong_to_those_who_may_be_anyone(void **state)
{
	struct fixture *f = *state;
	const struct {
		uid_t owner, slurm_user;
		mode_t mode;
		int code;
	} cases[] = {
		{ 0, 0, 0600, 0 },           { 0, 54321, 0640, 0 },
		{ 54321, 54321, 0600, 0 },   { 54321, 54321, 0640, -EACCES },
		{ 54321, 0, 0600, -EACCES }, { 54321, 54322, 0600, -EACCES },
	};
	char path[160];
	if (geteuid() != 0)
		skip(); /* only root gives files away */
	snprintf(path, sizeof(path), "%s/owned", f->dir);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_FD int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
		assert_true(fd >= 0 && ftruncate(fd, 64) == 0);
		assert_int_equal(fchown(fd, cases[i].owner, 0) | fchmod(fd, cases[i].mode), 0);
		struct auth *a = NULL;
		struct auth_options o = { .type = "auth/slurm",
					  .key_path = path,
					  .cluster = "c1",
					  .key_owner = cases[i].slurm_user };
		assert_int_equal(auth_new(&o, &a, NULL), cases[i].code);
		auth_free(a);
		unlink(path);
	}
}

static void a_key_is_made_once(void **state)
{
	struct fixture *f = *state;
	struct stat before, after;
	char path[200];
	struct error err = {};
	assert_int_equal(stat(f->key, &before), 0);
	assert_int_equal(before.st_mode & 07777, 0600);
	assert_int_equal(auth_make_key(f->key, NULL), 0);
	assert_int_equal(stat(f->key, &after), 0);
	assert_true(before.st_ino == after.st_ino &&
		    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	snprintf(path, sizeof(path), "%s/no/where", f->dir);
	assert_int_equal(auth_make_key(path, &err), -ENOENT);
	assert_true(str_starts(err.text, "cannot create key file '"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_names_its_user_once),
		cmocka_unit_test(times_are_checked),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(rubbish_is_refused),
		cmocka_unit_test(replays_are_refused_as_long_as_they_live),
		cmocka_unit_test(key_files_must_be_private),
		cmocka_unit_test(key_files_belong_to_those_who_may_be_anyone),
		cmocka_unit_test(a_key_is_made_once),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
