/* SPDX-License-Identifier: Apache-2.0 */
/* What a command loads, from real files: enough to find the controller, and nothing that costs. */
#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"
#include "../cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct dir {
	char path[64], conf[128];
};

static int dir_make(void **state)
{
	struct dir *d = calloc(1, sizeof(*d));
	snprintf(d->path, sizeof(d->path), "/tmp/test-conf-XXXXXX");
	if (!mkdtemp(d->path))
		return -1;
	snprintf(d->conf, sizeof(d->conf), "%s/slurm.conf", d->path);
	*state = d;
	return 0;
}

static int dir_remove(void **state)
{
	struct dir *d = *state;
	unlink(d->conf);
	rmdir(d->path);
	free(d);
	return 0;
}

static void write_conf(const struct dir *d, const char *text)
{
	FILE *f = fopen(d->conf, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_reads_little(void **state)
{
	const struct dir *d = *state;
	write_conf(d, "ClusterName=c SlurmctldHost=vm(10.0.0.1) SlurmctldPort=17\n"
		      "AuthType=auth/slurm\nMessageTimeout=3 KillWait=9\n"
		      "Unknown=1\nNodeName=n[1- CPUs=x\nPartitionName=\"p q\"\n");
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(conf_load_client(d->conf, &c, &err), 0);
	assert_string_equal(c->main.cluster_name, "c");
	assert_int_equal(c->main.slurmctld_port, 17);
	assert_int_equal(c->main.message_timeout, 3);
	assert_int_equal(c->controller_count, 1);
	assert_string_equal(c->controller_addresses[0], "10.0.0.1");
	assert_string_equal(c->auth_socket, "/run/slurm/auth.sock");
	assert_true(strncmp(c->auth_key, d->path, strlen(d->path)) == 0);
	assert_int_equal(c->node_count, 0);
	assert_int_equal(c->note_count, 0);
	struct conf *none = NULL;
	assert_true(conf_load(d->conf, &none, &err) < 0);
	assert_string_equal(err.text, "slurm.conf:4: Unknown: unknown key");
}

static void test_path_from_environment(void **state)
{
	const struct dir *d = *state;
	write_conf(d, "SlurmctldHost=a\nSlurmctldPort=none\n");
	setenv("SLURM_CONF", d->conf, 1);
	struct conf *c = NULL;
	struct error err = {};
	assert_true(conf_load_client(NULL, &c, &err) < 0);
	assert_string_equal(err.text, "slurm.conf:2: SlurmctldPort=none: not a number: write 1 to 65535");
	unlink(d->conf);
	assert_true(conf_load_client(NULL, &c, &err) < 0);
	char want[256];
	snprintf(want, sizeof(want), "cannot read '%s': No such file or directory", d->conf);
	assert_string_equal(err.text, want);
	assert_true(conf_load_client(d->path, &c, &err) < 0); /* a directory */
}

static void test_is_quick(void **state)
{
	const struct dir *d = *state;
	AUTO_BUF struct buf text = {};
	buf_puts(&text, "SlurmctldHost=a\nGresTypes=gpu\n");
	for (int i = 0; i < 60; i++)
		buf_puts(&text, "# a comment as sites write them\nKillWait=30\n");
	for (int i = 0; i < 50; i++)
		buf_printf(&text, "NodeName=rack%dn[1-200] CPUs=64 RealMemory=512000 Gres=gpu:8\n", i);
	buf_puts(&text, "PartitionName=p Nodes=ALL\n");
	write_conf(d, buf_text(&text));
	struct timespec start, end;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(conf_load_client(d->conf, &c, &err), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	print_message("# %ld us\n", (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads_little, dir_make, dir_remove),
		cmocka_unit_test_setup_teardown(test_path_from_environment, dir_make, dir_remove),
		cmocka_unit_test_setup_teardown(test_is_quick, dir_make, dir_remove),
	};
	return cmocka_run_group_tests_name("conf-client", tests, NULL, NULL);
}
