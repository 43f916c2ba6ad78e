// Package starter knows the programs that start another one, whose name and
// arguments follow their own: timeout 5 x, sudo -u me x. The guard of command
// lines, the reader of scripts and the one of settings look behind them by this one
// table.
//
// It imports nothing. Its invariant: what it gives is enough to find the program
// that is started, and says nothing of whether that is harmless.
package starter

// Starter is how such a program is stepped over.
type Starter struct {
	Letters  string // options of one letter that take a value
	Operands int    // how many words of its own stand before the program
}

// Of gives what is known of a program; false if it is no starter.
func Of(name string) (Starter, bool) {
	switch name {
	case "timeout", "gtimeout":
		return Starter{Letters: "ks", Operands: 1}, true
	case "nice":
		return Starter{Letters: "n"}, true
	case "ionice":
		return Starter{Letters: "cnpPu"}, true
	case "stdbuf":
		return Starter{Letters: "ioe"}, true
	case "time":
		return Starter{Letters: "fo"}, true
	case "nohup", "setsid", "disown", "daemonize", "start-stop-daemon", "builtin", "command", "busybox", "toybox", "tini", "dumb-init":
		return Starter{}, true
	case "exec":
		return Starter{Letters: "a"}, true
	case "env":
		return Starter{Letters: "uCa"}, true
	case "xargs", "parallel":
		return Starter{Letters: "nPILsdEajS"}, true
	case "sudo", "doas", "pkexec", "run0", "su", "runuser":
		return Starter{Letters: "CDghpRrtTUu"}, true
	case "chroot":
		return Starter{Operands: 1}, true
	case "flock":
		return Starter{Letters: "wE", Operands: 1}, true
	case "unshare", "nsenter", "setpriv", "systemd-run", "bwrap", "firejail", "capsh", "cgexec":
		return Starter{Letters: "StGuUpPrE"}, true
	case "chrt", "taskset":
		return Starter{Letters: "p", Operands: 1}, true
	case "watch", "script":
		return Starter{Letters: "nqc"}, true
	case "prlimit", "numactl", "choom", "softlimit", "cpulimit", "catchsegv", "unbuffer", "rlwrap", "fakeroot", "faketime", "torsocks", "proxychains", "proxychains4", "dbus-run-session", "dbus-launch", "xvfb-run", "strace", "ltrace", "perf", "valgrind", "gdb", "lldb",
		"ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "setarch", "linux64", "linux32", "noglob", "nocorrect", "entr", "watchexec", "direnv", "chronic", "ts", "sem", "caffeinate", "arch", "reptyr", "dtach", "abduco", "mise", "dotenv", "op", "proot":
		return Starter{Letters: "oepnuEP"}, true
	}
	return Starter{}, false
}

// IsShell knows the shells whose command line is read: sh -c CODE, sh SCRIPT.
func IsShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash":
		return true
	}
	return false
}
