// The processes that hold scripts. They are this program under another name,
// which never comes to its Go part: the function at the end of this file runs
// before it. So one of them takes the time and the memory of a fork, and not
// those of a program of a hundred megabytes.
//
//   server ── maker ── shim ── script
//
// The maker makes a shim whenever its server asks, and ends with it. A shim
// goes on without either: it waits for the end of its script, notes the exit
// code, and ends whatever the script has left behind. Then it waits for another
// script, as long as there is its server.
#define _GNU_SOURCE
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char begun[] = SHIM_BEGUN "\n";

enum { not_executable = 126, not_found = 127, signal_base = 128 }; // as in a shell

// all writes a text to a place of a file. What fails cannot be told to anybody.
static void all(int fd, const char *text, off_t at) {
	ssize_t ignored = pwrite(fd, text, strlen(text), at);
	(void)ignored;
}

// told reads what the script is, as Command.told of command.go puts it, to the
// end: a server that was killed on the way has told nothing.
static char *told(int fd) {
	char head[SHIM_HEAD + 1] = "";
	for (size_t have = 0; have < SHIM_HEAD;) {
		ssize_t n = read(fd, head + have, SHIM_HEAD - have);
		if (n <= 0)
			return NULL;
		have += n;
	}
	size_t size = strtoul(head, NULL, 16);
	char *text = malloc(size + 1);
	if (text == NULL)
		return NULL;
	for (size_t have = 0; have < size;) {
		ssize_t n = read(fd, text + have, size - have);
		if (n <= 0)
			return NULL;
		have += n;
	}
	text[size] = 0;
	return text;
}

// next takes a text off what was told.
static char *next(char **at) {
	char *text = *at;
	*at += strlen(text) + 1;
	return text;
}

// list takes a list of texts off: how many, and these.
static char **list(char **at) {
	size_t n = strtoul(next(at), NULL, 10);
	char **texts = calloc(n + 1, sizeof *texts);
	for (size_t i = 0; texts != NULL && i < n; i++)
		texts[i] = next(at);
	return texts;
}

// bound bounds the memory that may be mapped for writing.
static void bound(rlim_t bytes) {
	struct rlimit limit;
	if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > bytes)
		limit.rlim_max = bytes;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_DATA, &limit);
}

// script is what a shim was told, what is open for it, and how it ended.
struct script {
	rlim_t memory; // in bytes; 0 is no bound
	char *text, **args, **env;
	int work, out, err, end;
	bool released;
	char code[8]; // what the server is not told yet of the exit code
};

// in opens a file of the folder for a script, unless there is another thing in its
// place. The shim holds none of them between two scripts: so it can be seen whether
// somebody else does.
static int in(int folder, const char *name, int flags) {
	return openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

// put closes what was open for a script and forgets what was told of it.
static void put(struct script *script) {
	int files[] = {script->work, script->out, script->err, script->end};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (files[i] >= 0)
			close(files[i]);
	free(script->args);
	free(script->env);
	free(script->text);
}

// ready makes a shim ready for what it is told. It is false where that does not come.
// From here on the word to end ends it as it stands, until it has a process (run).
static bool ready(const int *file, struct script *script, const sigset_t *stop) {
	*script = (struct script){.work = -1, .out = -1, .err = -1, .end = -1};
	sigprocmask(SIG_UNBLOCK, stop, NULL);
	char *at = script->text = told(file[shim_told]);
	if (at == NULL)
		return false;
	script->memory = (rlim_t)strtoul(next(&at), NULL, 10) << 20;
	script->args = list(&at);
	script->env = list(&at);
	int folder = file[shim_folder];
	script->work = in(folder, SHIM_WORK, O_RDONLY | O_DIRECTORY);
	// What is written to the outputs goes to their ends, which the server may cut off.
	script->out = in(folder, SHIM_OUT, O_WRONLY | O_APPEND);
	script->err = in(folder, SHIM_ERR, O_WRONLY | O_APPEND);
	script->end = in(folder, SHIM_END, O_WRONLY);
	return script->args != NULL && script->env != NULL && script->work >= 0 && script->out >= 0 && script->err >= 0 && script->end >= 0;
}

// release waits for the release of a script. Where that does not come, nothing has
// begun.
static void release(int from, struct script *script) {
	char go;
	script->released = read(from, &go, 1) == 1;
	if (script->released)
		all(script->end, begun, 0);
}

// waiting is what the process is handed that becomes the script.
struct waiting {
	int release;
	struct script *script;
	pid_t shim;
};

// become becomes the script as soon as it is released, in a group of its own: what
// that does to its whole group, such as to stand still, does not reach the shim. It
// shares the memory of the shim until then, which only waits for signals meanwhile: to
// exchange a memory of its own would take as long as half a script. Without the shim it
// ends, as a script too.
static int become(void *handed) {
	struct waiting *waiting = handed;
	struct script *script = waiting->script;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(script->out, STDOUT_FILENO);
	dup2(script->err, STDERR_FILENO);
	bound(script->memory);
	bool there = fchdir(script->work) == 0;
	int why = errno;
	if (getppid() == waiting->shim)
		release(waiting->release, script);
	if (!script->released)
		_exit(0);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (there) {
		execve(script->args[0], script->args, script->env);
		why = errno;
	}
	dprintf(STDERR_FILENO, "%s: %s\n", script->args[0], strerror(why));
	_exit(why == ENOENT ? not_found : not_executable);
}

// say tells the server what it does not know of the exit code, and more. It may be
// gone.
static void say(int over, struct script *script, const char *more) {
	char text[sizeof script->code + sizeof SHIM_WAITS];
	int n = snprintf(text, sizeof text, "%s%s", script->code, more);
	ssize_t ignored = n > 0 ? write(over, text, n) : 0;
	(void)ignored;
	script->code[0] = 0;
}

// note notes the exit code of the script.
static void note(struct script *script, int code) {
	snprintf(script->code, sizeof script->code, "%d\n", code);
	all(script->end, script->code, sizeof begun - 1);
}

// code is the exit code that a shell would say.
static int code(int status) { return WIFSIGNALED(status) ? signal_base + WTERMSIG(status) : WEXITSTATUS(status); }

// listed is the place of a process in a list, -1 where it has none.
static int listed(const pid_t *list, size_t n, pid_t pid) {
	for (size_t i = 0; i < n; i++)
		if (list[i] == pid)
			return i;
	return -1;
}

// parent is the parent of a process, unless that waits to be collected.
static pid_t parent(const char *pid) {
	char path[32], text[512], state;
	snprintf(path, sizeof path, "/proc/%.10s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC), of;
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	char *rest = strrchr(text, ')'); // its name may hold anything
	return rest != NULL && sscanf(rest, ") %c %d", &state, &of) == 2 && state != 'Z' ? of : 0;
}

// end_children ends all children but those of a list, and returns how many will
// end. What they have started becomes its own child with that.
static int end_children(const pid_t *but, size_t n) {
	DIR *proc = opendir("/proc");
	int ending = 0;
	if (proc == NULL)
		return 0;
	for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
		pid_t pid = atoi(entry->d_name);
		if (pid <= 0 || parent(entry->d_name) != getpid() || listed(but, n, pid) >= 0)
			continue;
		if (kill(pid, SIGKILL) == 0) // nobody else collects it, so the number is its own
			ending++;
	}
	closedir(proc);
	return ending;
}

// ask asks the script and its group to end, and whatever of them stands still to go
// on until then. It has not been collected, so the number is its own.
static void ask(pid_t script) {
	int asks[] = {SIGTERM, SIGCONT};
	for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
		if (kill(-script, asks[i]) != 0) // it may have gone into another group
			kill(script, asks[i]);
}

// answer tells the server the pid of a shim, or why there is none.
static bool answer(int server, int32_t pid) {
	return send(server, &pid, sizeof pid, MSG_NOSIGNAL) == sizeof pid;
}

// still_asked reports whether the word that asks a script to end waits to be heard: it
// came with the end of this one, and would reach the next.
static bool still_asked(void) {
	sigset_t pending;
	sigpending(&pending);
	return sigismember(&pending, SHIM_ASK) == 1;
}

// collect waits until the script has ended and nothing of it is left. It is false
// where somebody wanted it to end.
static bool collect(int over, struct script *of, pid_t script, const sigset_t *word) {
	int ending = 0; // that have been killed and not been collected
	bool wanted = false;
	for (bool ended = false, sweep = false;;) {
		int status;
		pid_t child;
		for (; (child = waitpid(-1, &status, WNOHANG)) > 0; ending--)
			if (child == script) {
				if (of->released)
					note(of, code(status));
				ended = sweep = true;
			}
		if (child < 0 && ended)
			return !wanted && !still_asked();
		if (ended)
			say(over, of, ""); // it needs not wait for what is left
		if (sweep && ending <= 0) // a look at all processes of the system for many at once
			ending = end_children(NULL, 0);
		switch (sigwaitinfo(word, NULL)) {
		case SHIM_ASK:
			wanted = true;
			if (!ended)
				ask(script);
			break;
		case SHIM_STOP:
			wanted = sweep = true;
			ending = 0;
		}
	}
}

// run runs a script to its end, once it is released: its process waits for that, so
// that then it has nothing to do but to begin. The shim does not stand still meanwhile,
// as after vfork: it would have to be ended by the word for it, also once the script has
// begun and it had no turn since, and the exit code would be lost. It is false where the
// shim is of no more use.
static bool run(const int *file, struct script *script, const sigset_t *word) {
	static _Alignas(16) char stack[64 << 10]; // of that process, until it is the script
	struct waiting waiting = {file[shim_release], script, getpid()};
	sigset_t before;
	sigprocmask(SIG_BLOCK, word, &before);
	pid_t pid = clone(become, stack + sizeof stack, CLONE_VM | SIGCHLD, &waiting);
	if (pid < 0) {
		int why = errno;
		sigprocmask(SIG_SETMASK, &before, NULL); // until it is released it ends by the word
		release(file[shim_release], script);
		if (script->released)
			note(script, -why); // the script is not to blame
		return false;
	}
	bool calm = collect(file[shim_over], script, pid, word);
	if (!script->released)
		return false;
	all(script->end, SHIM_CLEAN, SHIM_CLEAN_AT);
	return calm;
}

// standing is what a script inherits of its shim, and may change there by its pid or
// its group.
struct standing {
	int priority, policy;
	cpu_set_t processors;
	struct rlimit limits[RLIM_NLIMITS];
};

// stands looks at it. What cannot be seen counts as nothing.
static void stands(struct standing *now) {
	memset(now, 0, sizeof *now); // between its fields too: two of them are compared as a whole
	now->priority = getpriority(PRIO_PROCESS, 0);
	now->policy = sched_getscheduler(0);
	sched_getaffinity(0, sizeof now->processors, &now->processors);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &now->limits[i]);
}

// deafen keeps all signals from this process: also the two that the C library holds back
// for itself and leaves out of sigfillset, by which others could end it.
static void deafen(void) {
	uint64_t every = UINT64_MAX; // a set as the system has it
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every, NULL, sizeof every);
}

// hold is a shim. It is in a session of its own, in a group apart from its script's,
// and hears but three signals: it keeps the exit code whatever others are told.
static void hold(const int *file, int server) {
	setsid();
	prctl(PR_SET_NAME, SHIM_NAME);
	prctl(PR_SET_CHILD_SUBREAPER, 1); // what loses its parent becomes its child
	sigset_t word, stop;
	deafen();
	sigemptyset(&stop);
	sigaddset(&stop, SHIM_STOP);
	word = stop;
	sigaddset(&word, SIGCHLD);
	sigaddset(&word, SHIM_ASK);
	answer(server, getpid());
	close(server);
	struct standing before, now;
	stands(&before);
	struct script script;
	while (ready(file, &script, &stop) && run(file, &script, &word)) {
		put(&script);
		stands(&now);
		if (memcmp(&now, &before, sizeof now) != 0) // the next would inherit it
			break;
		// All at once, and nothing is left to do here: the server goes on where this
		// process has just run, and would wait for it.
		say(file[shim_over], &script, SHIM_WAITS);
	}
	say(file[shim_over], &script, "");
}

// asked waits for the next shim that the server wants, with the files of it.
static bool asked(int server, int *file) {
	char byte, room[CMSG_SPACE(sizeof(int) * shim_files)];
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	ssize_t n;
	do
		n = recvmsg(server, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (n <= 0 || head == NULL || head->cmsg_len != CMSG_LEN(sizeof(int) * shim_files))
		return false;
	memcpy(file, CMSG_DATA(head), sizeof(int) * shim_files);
	return true;
}

// shims are those that the maker has made and that have not ended.
static pid_t *shims;
static size_t shim_count;

// keep puts a shim on the list.
static bool keep(pid_t pid) {
	pid_t *more = realloc(shims, (shim_count + 1) * sizeof *shims);
	if (more == NULL)
		return false;
	shims = more;
	shims[shim_count++] = pid;
	return true;
}

// collect_shims collects what has ended. What a shim held that somebody has killed
// is the maker's child now, and is ended.
static void collect_shims(void) {
	bool orphans = false;
	for (;;) {
		int status;
		for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
			int at = listed(shims, shim_count, pid);
			if (at >= 0)
				shims[at] = shims[--shim_count];
			orphans = orphans || at < 0 || WIFSIGNALED(status);
		}
		if (!orphans)
			return;
		orphans = false;
		end_children(shims, shim_count);
	}
}

static void woken(int signal) { (void)signal; }

// make is the maker.
static void make(int server) {
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigset_t child, before;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	signal(SIGCHLD, woken); // it comes while ppoll waits, and only then
	struct pollfd wait = {.fd = server, .events = POLLIN};
	for (int file[shim_files];;) {
		int n = ppoll(&wait, 1, NULL, &before);
		collect_shims();
		if (n <= 0)
			continue;
		if (!asked(server, file))
			return;
		pid_t pid = fork();
		if (pid == 0) {
			signal(SIGCHLD, SIG_DFL);
			hold(file, server);
			_exit(0);
		}
		if (pid < 0 && !answer(server, -errno))
			return;
		if (pid > 0 && !keep(pid))
			kill(pid, SIGKILL); // its end is seen by the server
		for (int i = 0; i < shim_files; i++)
			close(file[i]);
	}
}

// before runs before anything else of the program, and the program only where it
// does not bear the maker's name. The C library hands it the arguments.
__attribute__((constructor(101))) static void before(int argc, char **argv) {
	if (argc != 1 || strcmp(argv[0], SHIM_MAKER) != 0)
		return;
	prctl(PR_SET_NAME, SHIM_MAKER);
	make(SHIM_SOCKET);
	_exit(0);
}
