package shellguard

import "strings"

// takeForm finds the table of options for an open rule: by the program and as
// many of the words after it as name a subcommand. The arguments it gives back
// are those that the table is about; what the rule spells out is not.
func takeForm(name string, words []string, rest []Arg) (f form, args []Arg, ok bool) {
	all := make([]string, 0, len(words)+len(rest))
	all = append(all, words...)
	for _, a := range rest {
		all = append(all, a.Text)
	}
	if strings.HasPrefix(name, "python") {
		name = "python"
	}
	for n := min(3, len(all)); n >= 0; n-- {
		key := strings.Join(append([]string{name}, all[:n]...), " ")
		for _, table := range []func(string) (form, bool){takeGit, takeNet, takeCloud, takeBuild, takeNode, takePython, takeFiles} {
			if f, ok = table(key); ok {
				return f, rest[max(0, n-len(words)):], true
			}
		}
	}
	return form{}, nil, false
}

// takeGit: subcommands that change something. Not -S (starts gpg), -F and
// --template (read files), -e, -i and -p (start an editor or wait), -s and -X
// (may name a program), --exec, --upload-pack, --receive-pack, --repo, --file.
func takeGit(key string) (form, bool) {
	f := form{most: -1}
	sub, ok := strings.CutPrefix(key, "git ")
	if !ok {
		return f, false
	}
	switch sub {
	case "add":
		f.short, f.long = "vnfuAN", "verbose dry-run force update all no-all ignore-removal no-ignore-removal intent-to-add refresh ignore-errors ignore-missing sparse chmod= renormalize"
	case "commit":
		f.short, f.shortArg = "aqvso", "m"
		f.long = "all quiet verbose message= amend no-edit allow-empty allow-empty-message signoff no-signoff author= date= only status no-status short porcelain long branch dry-run reset-author fixup= squash= trailer= no-gpg-sign"
	case "push":
		f.short, f.long = "uqvn46", "set-upstream quiet verbose dry-run porcelain tags follow-tags atomic progress no-progress all branches ipv4 ipv6"
	case "fetch":
		f.short, f.long = "apqvtn46", "all append prune prune-tags tags no-tags quiet verbose depth= deepen= unshallow dry-run multiple jobs= progress no-progress ipv4 ipv6 shallow-since="
		f.shortArg = "j"
	case "pull":
		f.short, f.long = "apqvtrn46", "all prune tags no-tags quiet verbose depth= unshallow dry-run rebase no-rebase ff-only ff no-ff no-commit no-edit squash stat no-stat autostash no-autostash progress no-progress"
	case "checkout":
		f.short, f.shortArg, f.long = "qfdt", "bB", "quiet force detach track? no-track ours theirs guess no-guess progress no-progress"
	case "switch":
		f.short, f.shortArg, f.long = "qfdt", "cC", "create= force-create= detach force discard-changes track? no-track guess no-guess quiet"
	case "restore":
		f.short, f.shortArg, f.long = "qWS", "s", "source= staged worktree quiet ours theirs"
	case "stash", "stash push", "stash pop", "stash apply", "stash save":
		f.short, f.shortArg, f.long = "kuaqS", "m", "keep-index no-keep-index include-untracked all quiet message= staged index"
	case "merge":
		f.short, f.shortArg, f.long = "qvn", "m", "no-ff ff-only ff squash no-squash no-commit commit no-edit message= abort continue quit stat no-stat quiet verbose log? no-log allow-unrelated-histories signoff"
	case "rebase":
		f.short, f.long = "qv", "continue abort skip quit onto= quiet verbose autosquash no-autosquash autostash no-autostash stat no-stat keep-base root"
	case "reset":
		f.short, f.long = "q", "soft mixed hard merge keep quiet"
	case "rm":
		f.short, f.long = "rfqn", "cached force dry-run quiet ignore-unmatch"
	case "mv":
		f.short, f.long = "fkvn", "force verbose dry-run"
	case "cherry-pick", "revert":
		f.short, f.shortArg, f.long = "nxs", "m", "no-commit no-edit mainline= continue abort skip quit signoff"
	case "clone":
		f.short, f.shortArg, f.long = "qv", "b", "depth= branch= single-branch no-single-branch no-tags quiet verbose shallow-since= progress"
	case "init":
		f.short, f.shortArg, f.long = "q", "b", "quiet bare initial-branch="
	case "worktree", "worktree add", "worktree remove", "worktree prune":
		f.short, f.shortArg, f.long = "fdqvn", "bB", "detach force quiet track no-track dry-run verbose"
	case "clean":
		f.short, f.shortArg, f.long = "fdnxXq", "e", "force dry-run quiet exclude="
	default:
		return f, false
	}
	return f, true
}

// takeFiles: archives and copies. Not what names a program, another directory
// or a list of files.
func takeFiles(key string) (form, bool) {
	f := form{most: -1}
	switch key {
	case "tar", "gtar", "bsdtar":
		f.short, f.shortArg, f.long = "xtcvzjJpkm", "f", "verbose list extract create gzip bzip2 xz zstd exclude= strip-components= wildcards no-same-owner keep-old-files exclude-vcs"
	case "rsync":
		f.short, f.long = "avzrtpoglnuPhc", "dry-run verbose progress exclude= include= archive compress human-readable stats itemize-changes checksum partial ignore-existing update"
	case "scp":
		f.short, f.shortArg = "rqpvC346", "P"
	case "zip":
		f.short, f.long = "rqjuv0123456789", "recurse-paths quiet"
	case "systemctl status", "systemctl is-active", "systemctl is-enabled", "systemctl list-units", "systemctl list-timers", "systemctl show", "systemctl cat":
		f.short, f.shortArg, f.long = "alq", "np", "no-pager lines= full all quiet type= state= user plain no-legend property="
	case "journalctl":
		f.short, f.shortArg, f.shortOpt, f.long = "fkrexaq", "uopSUgt", "nb", "no-pager unit= lines= follow since= until= output= priority= grep= reverse boot? user dmesg utc quiet"
	case "dig":
		f.shortArg, f.short = "txp", "46"
	case "ping", "ping6":
		f.short, f.shortArg = "qn46", "cWi"
	default:
		return f, false
	}
	return f, true
}
