package guard

import "strings"

// dangerous finds the argument of an open rule that changes what is run, for a
// program without a form. The words are those of the rule, without the name: a
// person wrote them and they are not judged.
//
// Options that mean a program, a shell, a configuration, a plugin or another
// directory to nearly every program that has them are refused for all, in full
// and abbreviated, with one dash or two; and per program the letters and words
// that do the same there:
//
//	git     -c -x -s -X -O -S --exec --upload-pack --receive-pack --template --strategy …, transports (ext::…)
//	tar     -I -F -C --to-command --checkpoint-action --info-script, archives on other hosts (host:file)
//	rsync   -e --rsh --rsync-path             scp     -S -o -F
//	curl    -K -o -O -T --output …            wget    -e -O -P -i --use-askpass …
//	gcc     -B -o -wrapper -fplugin -specs @  cmake   -P -E -C -D
//	docker  -f -v -H -c --privileged …        pip     -i -e -f -t -r --index-url …
//	python  -c -p -o (of a module)            mvn     -f -s -D, gradle -I -b -p -c
func dangerous(name string, words []string, rest []Arg) string {
	letters, more := dangerousHere(name, words)
	for _, a := range rest {
		t := a.Text
		if strings.Contains(t, "::") && (name == "git" || name == "pip") || strings.HasPrefix(t, "@") && more != "" {
			return show(t) + " changes what is run"
		}
		if name == "tar" && strings.Contains(t, ":") {
			return show(t) + " is on another machine"
		}
		if !strings.HasPrefix(t, "-") || t == "-" || t == "--" {
			continue
		}
		if letters == "" && more == "" {
			// Nobody here knows the options of this program.
			return show(t) + " may change what is run"
		}
		word, _, _ := strings.Cut(strings.TrimLeft(t, "-"), "=")
		if (len(word) > 2 || strings.HasPrefix(t, "--")) && (abbreviates(word, dangerousWords) || abbreviates(word, more)) {
			return show(t) + " changes what is run"
		}
		if !strings.HasPrefix(t, "--") && letters != "" && strings.ContainsAny(t[1:], letters) {
			// Anywhere in a cluster: -xf may be -x -f or -x with a value.
			return show(t) + " changes what is run"
		}
	}
	return ""
}

const dangerousWords = "exec execute exec-path exec-prefix execdir command cmd shell script-shell pager editor eval require loader import plugin plugins preload use-compress-program compress-program rsh rsh-command rsync-path upload-pack receive-pack config config-file config-env rcfile init-file init-script toolexec vettool hook hooks-path hooks checkpoint-action to-command wrapper pre hostname-bin prefix userconfig globalconfig node-options manifest-path modfile overlay directory cwd chdir work-dir workdir script interpreter program launcher entrypoint env env-file settings template profile runner build-file include-build askpass use-askpass proxy-command"

// dangerousHere are the letters and words of single programs.
func dangerousHere(name string, words []string) (letters, more string) {
	switch name {
	case "git":
		letters, more = "cxXOS", "strategy strategy-option ext-diff textconv output open-files-in-pager extcmd tool gpg-sign gpg file reference separate-git-dir git-dir work-tree recurse-submodules foreach run"
		if len(words) > 0 && words[0] != "push" {
			letters += "us"
		}
	case "tar", "bsdtar", "gtar":
		letters, more = "IFC", "info-script new-volume-script rmt-command files-from absolute-names one-top-level transform to-stdout"
	case "rsync":
		letters, more = "eT", "files-from write-batch log-file temp-dir backup-dir daemon"
	case "scp", "sftp":
		letters, more = "SoFDP", "none"
	case "curl":
		letters, more = "KoOTDcE", "output output-dir remote-name remote-name-all upload-file dump-header cookie-jar netrc-file libcurl trace trace-ascii stderr etag-save key cert engine unix-socket abstract-unix-socket"
	case "wget":
		letters, more = "eOPioaA", "output-document output-file append-output directory-prefix input-file post-file body-file save-cookies load-cookies warc-file"
	case "gcc", "cc", "g++", "c++", "clang", "clang++", "ld":
		letters, more = "BoX", "fplugin specs fuse-ld dumpdir load"
	case "cmake", "ctest":
		letters, more = "PECDSB", "toolchain preset build install"
	case "ninja", "meson":
		letters, more = "fCt", "none"
	case "docker", "podman", "nerdctl", "docker-compose", "kubectl", "helm":
		letters, more = "fvHc", "file volume mount privileged device cap-add security-opt pid ipc network userns host context kubeconfig as server token project-directory"
	case "pip", "pip3", "uv":
		letters, more = "ieftr", "index-url extra-index-url find-links editable target root requirement constraint global-option build-option install-option no-index"
	case "mvn":
		letters, more = "fsDlt", "file global-settings toolchains define"
	case "gradle", "gradlew":
		letters, more = "IbpcgPD", "project-dir system-prop project-prop gradle-user-home"
	case "python", "python3", "pypy", "pypy3":
		letters, more = "cpo", "rootdir confcutdir basetemp junitxml override-ini pythonwarnings"
	case "go":
		letters, more = "Co", "ldflags gcflags asmflags mod pkgdir o C"
	case "npm", "yarn", "pnpm":
		letters, more = "Cg", "dir global location registry shell-emulator"
	case "cargo":
		letters, more = "ZC", "target-dir path git registry root"
	case "zip":
		letters, more = "TO", "unzip-command test output-file"
	case "openssl":
		letters, more = "", "engine provider"
	}
	return letters, more
}

// abbreviates reports whether a word is one of the list or the beginning of
// one: many programs take "--exe" for "--exec".
func abbreviates(word, list string) bool {
	word = strings.ToLower(word)
	return strings.HasPrefix(list, word) || strings.Contains(list, " "+word)
}
