/* SPDX-License-Identifier: Apache-2.0 */
/* `scontrol show config` line by line: order, spelling and values as Slurm 26.05 prints them for the
 * same slurm.conf (the version apart). */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "files.h"
#include "schema/messages.h"
#include "../cm.h"

#include <stdlib.h>
#include <time.h>

static const char given[] =
	"ClusterName=ref SlurmctldHost=vm(127.0.0.1) SlurmctldPort=16817 SlurmdPort=16818\n"
	"AccountingStorageType=accounting_storage/slurmdbd AccountingStorageHost=127.0.0.1\n"
	"AccountingStoragePort=16819 AccountingStorageEnforce=associations,limits,qos\n"
	"AccountingStorageTRES=gres/gpu,gres/gpumem,gres/gpuutil\n"
	"DefMemPerCPU=100 GresTypes=gpu JobAcctGatherType=jobacct_gather/linux KillWait=5\n"
	"MaxArraySize=100001 MaxJobCount=250000 MessageTimeout=60 MpiDefault=pmix\n"
	"PriorityWeightAge=1000 PriorityWeightFairshare=10000 PriorityWeightJobSize=100\n"
	"ProctrackType=proctrack/linuxproc ReturnToService=2\n"
	"SlurmctldLogFile=/var/log/slurm/slurmctld.log SlurmdLogFile=/var/log/slurm/slurmd-%n.log\n"
	"SlurmdParameters=config_overrides SlurmdPidFile=/run/slurm/slurmd-%n.pid\n"
	"SlurmctldPidFile=/run/slurm/slurmctld.pid SlurmdSpoolDir=/var/spool/slurmd/%n\n"
	"StateSaveLocation=/var/spool/slurmctld TopologyPlugin=topology/tree\n"
	"NodeName=node[1-8] Gres=gpu:a100:4\nPartitionName=debug Nodes=ALL Default=YES\n";

static const char shown[] =
	"AccountingStorageBackupHost = (null)\n"
	"AccountingStorageEnforce = associations,limits,qos\n"
	"AccountingStorageHost = 127.0.0.1\n"
	"AccountingStorageExternalHost = (null)\n"
	"AccountingStorageParameters = (null)\n"
	"AccountingStoragePort = 16819\n"
	"AccountingStorageTRES = cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu,gres/gpumem,gres/gpuutil\n"
	"AccountingStorageType = accounting_storage/slurmdbd\n"
	"AccountingStoreFlags = (null)\n"
	"AcctGatherEnergyType = (null)\n"
	"AcctGatherFilesystemType = (null)\n"
	"AcctGatherInterconnectType = (null)\n"
	"AcctGatherNodeFreq = 0 sec\n"
	"AcctGatherProfileType = (null)\n"
	"AllowSpecResourcesUsage = no\n"
	"AuthAltTypes = (null)\n"
	"AuthAltParameters = (null)\n"
	"AuthInfo = (null)\n"
	"AuthType = auth/munge\n"
	"BatchStartTimeout = 10 sec\n"
	"BcastExclude = /lib,/usr/lib,/lib64,/usr/lib64\n"
	"BcastParameters = (null)\n"
	"BOOT_TIME = 2026-11-15T04:00:02\n"
	"BurstBufferType = (null)\n"
	"CertgenParameters = (null)\n"
	"CertgenType = (null)\n"
	"CertmgrParameters = (null)\n"
	"CertmgrType = (null)\n"
	"CliFilterParameters = (null)\n"
	"CliFilterPlugins = (null)\n"
	"ClusterName = ref\n"
	"CommunicationParameters = (null)\n"
	"CompleteWait = 0 sec\n"
	"CpuFreqDef = Unknown\n"
	"CpuFreqGovernors = OnDemand,Performance,UserSpace\n"
	"CredType = auth/munge\n"
	"DataParserParameters = (null)\n"
	"DebugFlags = (null)\n"
	"DefMemPerCPU = 100\n"
	"DependencyParameters = (null)\n"
	"DisableRootJobs = no\n"
	"EioTimeout = 60\n"
	"EnforcePartLimits = NO\n"
	"EpilogMsgTime = 2000 usec\n"
	"FairShareDampeningFactor = 1\n"
	"FederationParameters = (null)\n"
	"FirstJobId = 1\n"
	"GresTypes = gpu\n"
	"GpuFreqDef = (null)\n"
	"GroupUpdateForce = 1\n"
	"GroupUpdateTime = 600 sec\n"
	"HASH_VAL = Match\n"
	"HashPlugin = hash/k12\n"
	"HealthCheckInterval = 0 sec\n"
	"HealthCheckNodeState = ANY\n"
	"HealthCheckProgram = (null)\n"
	"HealthCheckTimeout = 0 sec\n"
	"HttpParserType = (null)\n"
	"InactiveLimit = 0 sec\n"
	"InteractiveStepOptions = --interactive --preserve-env --pty $SHELL\n"
	"JobAcctGatherFrequency = 30\n"
	"JobAcctGatherType = jobacct_gather/linux\n"
	"JobAcctGatherParams = (null)\n"
	"JobCompHost = localhost\n"
	"JobCompLoc = (null)\n"
	"JobCompParams = (null)\n"
	"JobCompPass = (null)\n"
	"JobCompPort = 0\n"
	"JobCompType = (null)\n"
	"JobCompUser = root\n"
	"JobDefaults = (null)\n"
	"JobFileAppend = 0\n"
	"JobRequeue = 1\n"
	"JobSubmitPlugins = (null)\n"
	"KillOnBadExit = 0\n"
	"KillWait = 5 sec\n"
	"LaunchParameters = (null)\n"
	"LicenseParameters = (null)\n"
	"Licenses = (null)\n"
	"LogTimeFormat = iso8601_ms\n"
	"MailDomain = (null)\n"
	"MailProg = /bin/mail\n"
	"MaxArraySize = 100001\n"
	"MaxBatchRequeue = 5\n"
	"MaxDBDMsgs = 500032\n"
	"MaxJobCount = 250000\n"
	"MaxJobId = 67043328\n"
	"MaxMemPerNode = UNLIMITED\n"
	"MaxNodeCount = 8\n"
	"MaxStepCount = 40000\n"
	"MaxTasksPerNode = 512\n"
	"MCSPlugin = (null)\n"
	"MCSParameters = (null)\n"
	"MessageTimeout = 60 sec\n"
	"MetricsAuthUsers = (null)\n"
	"MetricsParameters = (null)\n"
	"MetricsType = (null)\n"
	"MinJobAge = 300 sec\n"
	"MpiDefault = pmix\n"
	"MpiParams = (null)\n"
	"MULTIPLE_SLURMD = yes\n"
	"NamespaceType = (null)\n"
	"NEXT_JOB_ID = 2243\n"
	"NodeFeaturesPlugins = (null)\n"
	"OverTimeLimit = 0 min\n"
	"PluginDir = /usr/lib/slurm\n"
	"PlugStackConfig = (null)\n"
	"PreemptMode = OFF\n"
	"PreemptParameters = (null)\n"
	"PreemptType = (null)\n"
	"PreemptExemptTime = 00:00:00\n"
	"PrEpParameters = (null)\n"
	"PrEpPlugins = prep/script\n"
	"PriorityParameters = (null)\n"
	"PrioritySiteFactorParameters = (null)\n"
	"PrioritySiteFactorPlugin = (null)\n"
	"PriorityDecayHalfLife = 7-00:00:00\n"
	"PriorityCalcPeriod = 00:05:00\n"
	"PriorityFavorSmall = no\n"
	"PriorityFlags = \n"
	"PriorityMaxAge = 7-00:00:00\n"
	"PriorityType = priority/multifactor\n"
	"PriorityUsageResetPeriod = NONE\n"
	"PriorityWeightAge = 1000\n"
	"PriorityWeightAssoc = 0\n"
	"PriorityWeightFairShare = 10000\n"
	"PriorityWeightJobSize = 100\n"
	"PriorityWeightPartition = 0\n"
	"PriorityWeightQOS = 0\n"
	"PriorityWeightTRES = (null)\n"
	"PrivateData = none\n"
	"ProctrackType = proctrack/linuxproc\n"
	"PrologEpilogTimeout = 65534\n"
	"PrologFlags = (null)\n"
	"PropagatePrioProcess = 0\n"
	"PropagateResourceLimits = ALL\n"
	"PropagateResourceLimitsExcept = (null)\n"
	"RebootProgram = (null)\n"
	"ReconfigFlags = (null)\n"
	"RequeueExit = (null)\n"
	"RequeueExitHold = (null)\n"
	"ResumeFailProgram = (null)\n"
	"ResumeProgram = (null)\n"
	"ResumeRate = 300 nodes/min\n"
	"ResumeTimeout = 60 sec\n"
	"ResvEpilog = (null)\n"
	"ResvOverRun = 0 min\n"
	"ResvProlog = (null)\n"
	"ReturnToService = 2\n"
	"SchedulerParameters = (null)\n"
	"SchedulerTimeSlice = 30 sec\n"
	"SchedulerType = sched/backfill\n"
	"ScronParameters = (null)\n"
	"SelectType = select/cons_tres\n"
	"SelectTypeParameters = CR_CORE_MEMORY\n"
	"SlurmUser = root(0)\n"
	"SlurmctldAddr = (null)\n"
	"SlurmctldDebug = info\n"
	"SlurmctldHost[0] = vm(127.0.0.1)\n"
	"SlurmctldHttpAuthParameters = (null)\n"
	"SlurmctldLogFile = /var/log/slurm/slurmctld.log\n"
	"SlurmctldPort = 16817\n"
	"SlurmctldSyslogDebug = (null)\n"
	"SlurmctldPrimaryOffProg = (null)\n"
	"SlurmctldPrimaryOnProg = (null)\n"
	"SlurmctldTimeout = 120 sec\n"
	"SlurmctldParameters = (null)\n"
	"SlurmdDebug = info\n"
	"SlurmdHttpAuthParameters = (null)\n"
	"SlurmdLogFile = /var/log/slurm/slurmd-%n.log\n"
	"SlurmdParameters = config_overrides\n"
	"SlurmdPidFile = /run/slurm/slurmd-%n.pid\n"
	"SlurmdPort = 16818\n"
	"SlurmdSpoolDir = /var/spool/slurmd/%n\n"
	"SlurmdSyslogDebug = (null)\n"
	"SlurmdTimeout = 300 sec\n"
	"SlurmdUser = root(0)\n"
	"SlurmSchedLogFile = (null)\n"
	"SlurmSchedLogLevel = 0\n"
	"SlurmctldPidFile = /run/slurm/slurmctld.pid\n"
	"SLURM_CONF = /etc/slurm/slurm.conf\n"
	"SLURM_VERSION = " MUSTER_VERSION "\n"
	"SrunEpilog = (null)\n"
	"SrunPortRange = 0-0\n"
	"SrunProlog = (null)\n"
	"StateSaveLocation = /var/spool/slurmctld\n"
	"SuspendExcNodes = (null)\n"
	"SuspendExcParts = (null)\n"
	"SuspendExcStates = (null)\n"
	"SuspendProgram = (null)\n"
	"SuspendRate = 60 nodes/min\n"
	"SuspendTime = INFINITE\n"
	"SuspendTimeout = 30 sec\n"
	"SwitchParameters = (null)\n"
	"SwitchType = (null)\n"
	"TaskEpilog = (null)\n"
	"TaskPlugin = (null)\n"
	"TaskPluginParam = (null type)\n"
	"TaskProlog = (null)\n"
	"TCPTimeout = 2 sec\n"
	"TLSParameters = (null)\n"
	"TLSType = tls/none\n"
	"TmpFS = /tmp\n"
	"TopologyParam = (null)\n"
	"TopologyPlugin = topology/tree\n"
	"TrackWCKey = no\n"
	"TreeWidth = 16\n"
	"UsePam = no\n"
	"UnkillableStepProgram = (null)\n"
	"UnkillableStepTimeout = 300 sec\n"
	"UrlParserType = (null)\n"
	"VSizeFactor = 0 percent\n"
	"WaitTime = 0 sec\n"
	"X11Parameters = (null)\n";

static void show(const char *text, struct buf *out)
{
	const struct test_file files[] = { { "/etc/slurm/slurm.conf", text }, {} };
	AUTO_CONF struct conf *c = NULL;
	AUTO_ARENA struct arena *a = arena_new();
	struct error err = {};
	struct conf_line *lines;
	uint32_t count;
	if (test_load(files, &c, &err) < 0)
		fail_msg("%s", err.text);
	conf_show(c, 1794715202 * USEC_PER_SEC, 2243, a, &lines, &count);
	for (uint32_t i = 0; i < count; i++)
		buf_printf(out, "%s = %s\n", lines[i].key, lines[i].value);
}

static void test_as_slurm_does(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	show(given, &out);
	assert_string_equal(buf_text(&out), shown);
}

/* Lines that the sample does not have: what they look like when they are set. */
static const struct {
	const char *line, *want, *not_want;
} cases[] = {
	{ "DefMemPerNode=4G", "\nDefMemPerNode = 4096\n", "\nDefMemPerCPU = " },
	{ "DefMemPerCPU=0", "\nDefMemPerNode = UNLIMITED\n", "\nDefMemPerCPU = " },
	{ "MaxMemPerCPU=1G", "\nMaxMemPerCPU = 1024\n", "\nMaxMemPerNode = " },
	{ "Prolog=/a\nProlog=/b", "\nProlog[0] = /a\nProlog[1] = /b\n", "\nProlog = " },
	{ "OverTimeLimit=UNLIMITED", "\nOverTimeLimit = UNLIMITED\n", NULL },
	{ "SuspendTime=600", "\nSuspendTime = 600 sec\n", NULL },
	{ "SuspendTime=-1", "\nSuspendTime = INFINITE\n", NULL },
	{ "SelectTypeParameters=CR_Core", "\nSelectTypeParameters = CR_CORE\n", NULL },
	{ "AuthType=auth/slurm", "\nCredType = auth/slurm\n", NULL },
	{ "CredType=cred/x", "\nCredType = cred/x\n", NULL },
	{ "SlurmUser=0", "\nSlurmUser = root(0)\n", NULL },
	{ "SlurmUser=nobody-here", "\nSlurmUser = nobody-here\n", NULL },
	{ "PriorityDecayHalfLife=1-12:30", "\nPriorityDecayHalfLife = 1-12:30:00\n", NULL },
	{ "AccountingStoragePass=secret", "\nAccountingStoragePort = ", "secret" },
	{ "TrackWCKey=yes", "\nTrackWCKey = yes\n", NULL },
	{ "MessageTimeout=30", "\nUnkillableStepTimeout = 150 sec\n", NULL },
	{ "UnkillableStepTimeout=5", "\nUnkillableStepTimeout = 5 sec\n", NULL },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_BUF struct buf text = {}, out = {};
		buf_printf(&text, "SlurmctldHost=c\n%s\nNodeName=n\nPartitionName=p Nodes=n\n", cases[i].line);
		show(buf_text(&text), &out);
		if (!strstr(buf_text(&out), cases[i].want))
			fail_msg("%s: no%s", cases[i].line, cases[i].want);
		if (cases[i].not_want && strstr(buf_text(&out), cases[i].not_want))
			fail_msg("%s: has%s", cases[i].line, cases[i].not_want);
	}
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_slurm_does),
		cmocka_unit_test(test_cases),
	};
	return cmocka_run_group_tests_name("conf-show", tests, NULL, NULL);
}
