package shellguard

import (
	"slices"
	"strings"
)

// classOf says what a program does that has no harmless form, or was not given
// one: for the person who is asked, and for the table that picks a sandbox. It
// never makes anything allowed.
func classOf(name string, args []Arg) Class {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "srm", "dd", "wipefs", "fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "truncate", "blkdiscard", "mkswap",
		"kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "dropdb", "userdel", "groupdel", "hdparm", "cryptsetup":
		return Destroys
	case "cp", "mv", "ln", "mkdir", "touch", "tee", "install", "chmod", "chown", "chgrp", "chattr", "setfacl", "patch", "tar", "unzip", "zip", "gzip", "gunzip",
		"bzip2", "bunzip2", "xz", "unxz", "zstd", "7z", "cpio", "ar", "split", "csplit", "mktemp", "mkfifo", "mknod", "gofmt", "sed", "sort", "uniq", "tree", "file",
		"mount", "umount", "swapon", "swapoff", "useradd", "usermod", "groupadd", "passwd", "chsh", "sysctl", "hostname", "date", "ed", "ex", "vi", "vim", "nano", "emacs",
		"sponge", "rename", "logger", "xxd", "convert", "ffmpeg", "sqlite3", "crontab", "at", "batch", "history", "iconv", "shuf", "base64":
		return Writes
	case "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "tftp", "lftp", "ping", "ping6", "dig", "nslookup", "host", "traceroute", "tracepath",
		"mtr", "socat", "http", "https", "httpie", "aria2c", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm", "rclone", "openssl", "whois", "nmap", "mail", "sendmail", "xdg-open",
		"psql", "mysql", "mongo", "redis-cli", "fetch", "lynx", "w3m", "links", "apt", "apt-get", "yum", "dnf", "apk", "pacman", "brew", "snap", "flatpak", "pip", "pip3", "pipx", "uv", "gem":
		return Network
	case "find":
		for _, a := range args {
			switch {
			case a.Text == "-delete":
				return Destroys
			case strings.HasPrefix(a.Text, "-fprint") || a.Text == "-fls":
				return Writes
			}
		}
		return Unknown
	case "git":
		return gitClass(args)
	case "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish", "expect", "guile", "ghci", "Rscript", "R", "julia", "osascript", "pwsh",
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "npm", "npx", "yarn", "pnpm", "pnpx", "bunx", "uvx", "make", "gmake", "cmake", "ninja", "meson", "cargo", "go", "gradle", "mvn", "ant", "sbt", "bazel", "pytest", "py.test", "tox",
		"docker", "podman", "nerdctl", "docker-compose", "vagrant", "ansible", "ansible-playbook", "terraform", "systemctl", "service", "launchctl", "source", ".", "eval", "exec", "trap", "awk", "gawk", "mawk", "nawk", "less", "more", "man", "ldd", "gcc", "cc", "g++", "clang", "ld", "as", "gdb", "tmux", "screen", "java", "javac", "dotnet", "rustc", "m4", "bc", "dc":
		return Runs
	}
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return Destroys
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "perl5") || strings.HasPrefix(name, "lua5") || strings.HasPrefix(name, "php8") {
		return Runs
	}
	return Unknown
}

func gitClass(args []Arg) Class {
	sub, rest := gitSubCommand(args)
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(a Arg) bool { return slices.Contains(words, a.Text) })
	}
	switch sub {
	case "push", "fetch", "pull", "clone", "ls-remote", "submodule", "send-email", "svn", "p4", "archive":
		return Network
	case "clean", "gc", "prune", "filter-branch", "filter-repo", "restore":
		return Destroys
	case "reset":
		if has("--hard", "--merge", "--keep") {
			return Destroys
		}
	case "checkout", "switch":
		if has("-f", "--force", "--", ".", "--discard-changes") {
			return Destroys
		}
	case "branch", "tag":
		if has("-d", "-D", "--delete") {
			return Destroys
		}
	case "stash":
		if has("drop", "clear") {
			return Destroys
		}
	case "reflog":
		if has("expire", "delete") {
			return Destroys
		}
	case "difftool", "mergetool", "bisect", "rebase", "hook", "daemon", "instaweb", "gui", "citool", "help", "credential", "web--browse":
		return Runs
	case "add", "commit", "mv", "rm", "merge", "cherry-pick", "revert", "apply", "am", "init", "worktree", "notes", "update-ref", "update-index", "config", "remote", "maintenance", "sparse-checkout", "replace", "rerere", "log", "diff", "show",
		// What git does by itself no alias can mean.
		"status", "rev-parse", "rev-list", "ls-files", "ls-tree", "cat-file", "blame", "annotate", "describe", "shortlog", "show-ref", "for-each-ref", "merge-base", "name-rev", "whatchanged", "cherry", "count-objects",
		"check-ignore", "check-attr", "symbolic-ref", "hash-object", "version", "format-patch", "read-tree", "write-tree", "commit-tree", "fsck", "repack", "show-branch", "range-diff", "diff-tree", "diff-index", "diff-files":
	default:
		return Unknown // an alias may run anything
	}
	return Writes
}
