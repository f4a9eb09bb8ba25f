/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - the configuration of a new virtual cluster.
 *
 * Written once; afterwards the files belong to the user, and `up` only reads them.  The first line of
 * slurm.conf notes the options it was made with, so that a later `up` can tell when it is asked for
 * something else.  The port is looked for outside the range that the kernel hands to outgoing
 * connections: it must still be free when the controller comes back after a crash. */
#include "cmd/muster/muster.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "wire/auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT_FIRST = 12000, PORT_COUNT = 20000 };

static int pick_port(const struct site *s, uint16_t *ret, struct error *err);
static int make_devices(const struct site *s, uint32_t count, struct error *err);
static void put_nodes(const struct shape *shape, struct buf *out);
static int write_gres(const struct site *s, const struct shape *shape, struct error *err);

int config_write(struct site *s, const struct shape *shape, const char *shape_note, struct error *err)
{
	AUTO_BUF struct buf text = {};
	uint16_t port = 0;

	int r = pick_port(s, &port, err);
	if (r < 0)
		return r;
	buf_printf(&text, "#muster %s\n", shape_note);
	buf_printf(&text, "# Written by 'muster up', which only reads it from now on: edit it, then\n"
			  "# 'scontrol reconfigure'.  Remove %s to start afresh.\n", s->root);
	if (shape->conf) {
		r = import_config(s, shape->conf, port, &text, err);
	} else {
		config_put_site(s, port, &text);
		put_nodes(shape, &text);
		r = write_gres(s, shape, err);
	}
	if (r < 0)
		return r;
	r = auth_make_key(site_path(s, "etc/slurm.key"), err);
	if (r < 0)
		return r;
	return text_write(s->conf, 0644, &text, err); /* last: its presence says that all is there */
}

void config_put_site(const struct site *s, uint16_t port, struct buf *out)
{
	const struct passwd *pw = getpwuid(getuid());

	buf_printf(out, "SlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=%u\n", port);
	if (pw)
		buf_printf(out, "SlurmUser=%s\n", pw->pw_name);
	else
		buf_printf(out, "SlurmUser=%u\n", (unsigned)getuid());
	buf_printf(out, "AuthType=auth/slurm\nAuthInfo=socket=%s/run/auth.sock\n", s->root);
	buf_printf(out, "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool/%%n\n", s->root, s->root);
	buf_printf(out, "SlurmctldPidFile=%s/run/slurmctld.pid\nSlurmdPidFile=%s/run/slurmd-%%n.pid\n",
		   s->root, s->root);
	buf_printf(out, "SlurmctldLogFile=%s/log/slurmctld.log\nSlurmdLogFile=%s/log/slurmd-%%n.log\n",
		   s->root, s->root);
	buf_puts(out, "SlurmdParameters=config_overrides\n");
}

static void put_nodes(const struct shape *shape, struct buf *out)
{
	bool is_even = shape->cpus % 2 == 0;

	buf_puts(out, "ClusterName=muster\nReturnToService=2\nMaxJobCount=1000000\nMaxArraySize=100001\n");
	/* A job that does not speak of memory gets its share with its CPUs, not the whole node. */
	buf_printf(out, "DefMemPerCPU=%llu\n", (unsigned long long)(shape->memory_mib / shape->cpus));
	if (shape->gpus)
		buf_puts(out, "GresTypes=gpu\n");
	buf_printf(out, "\nNodeName=node[1-%u] NodeAddr=127.0.0.1 NodeHostname=localhost Sockets=%d "
			"CoresPerSocket=%u ThreadsPerCore=1 RealMemory=%llu",
		   shape->nodes, is_even ? 2 : 1, is_even ? shape->cpus / 2 : shape->cpus,
		   (unsigned long long)shape->memory_mib);
	if (shape->gpus)
		buf_printf(out, " Gres=gpu%s%s:%u", shape->gpu_type ? ":" : "",
			   shape->gpu_type ? shape->gpu_type : "", shape->gpus);
	buf_printf(out, "\nPartitionName=main Nodes=node[1-%u] Default=YES MaxTime=INFINITE State=UP\n",
		   shape->nodes);
}

/* The same devices on every node: a virtual node sees its own GPUs 0 to N-1 as a real one would. */
static int write_gres(const struct site *s, const struct shape *shape, struct error *err)
{
	AUTO_BUF struct buf text = {};

	buf_puts(&text, "# Empty files stand for the GPUs, so that jobs find their variables set.\n");
	if (shape->gpus) {
		buf_puts(&text, "Name=gpu");
		if (shape->gpu_type)
			buf_printf(&text, " Type=%s", shape->gpu_type);
		buf_printf(&text, " File=%s/dev/nvidia", s->root);
		buf_printf(&text, shape->gpus > 1 ? "[0-%u]\n" : "%u\n", shape->gpus - 1);
	}
	int r = make_devices(s, shape->gpus, err);
	return r < 0 ? r : text_write(site_path(s, "etc/gres.conf"), 0644, &text, err);
}

static int make_devices(const struct site *s, uint32_t count, struct error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const char *path = site_path(s, "dev/nvidia%u", i);
		AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			return error_set(err, -errno, "cannot create '%s': %s", path, strerror(errno));
	}
	return 0;
}

static bool port_is_free(uint16_t port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_ANY);
	return fd >= 0 && bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0;
}

/* Starts at a place of its own for each directory, so that clusters made at the same moment do not
 * look at the same port. */
static int pick_port(const struct site *s, uint16_t *ret, struct error *err)
{
	uint32_t start = (uint32_t)(hash_bytes(s->root, strlen(s->root)) % PORT_COUNT);

	for (uint32_t i = 0; i < PORT_COUNT; i++) {
		uint16_t port = (uint16_t)(PORT_FIRST + (start + i) % PORT_COUNT);
		if (port_is_free(port)) {
			*ret = port;
			return 0;
		}
	}
	return error_set(err, -EADDRINUSE, "no TCP port from %d to %d is free on this machine", PORT_FIRST,
			 PORT_FIRST + PORT_COUNT - 1);
}

int config_write_env(const struct site *s, struct error *err)
{
	AUTO_BUF struct buf text = {};

	buf_printf(&text, "# To be sourced: . %s/env\n", s->root);
	buf_printf(&text, "case \":$PATH:\" in *:'%s':*) ;; *) PATH='%s':$PATH ;; esac\n", s->bin, s->bin);
	buf_printf(&text, "export PATH\nexport SLURM_CONF=%s\n", s->conf);
	return text_write(site_path(s, "env"), 0644, &text, err);
}
