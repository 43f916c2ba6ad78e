package named

import (
	"slices"
	"strings"
)

// commands are the programs that people, prompts, editors and agents run by themselves.
// Left out is what packages of languages bring along: python, pip, node, npm, which, cmake.
const commands = `
	git git-lfs gh glab ssh ssh-add ssh-agent ssh-keygen scp sftp rsync gpg gpg2 gpgsm pass
	sudo su doas pkexec sh bash dash zsh fish ksh tmux screen env
	ls cat cp mv rm mkdir rmdir ln chmod chown touch pwd head tail less more man clear
	grep egrep fgrep rg sed awk gawk find xargs sort uniq wc cut tr tee diff basename dirname readlink realpath
	date id whoami hostname uname locale tty stty tput dircolors lesspipe getconf ps kill pkill pgrep top htop df du mount sleep
	vim vi nvim nano emacs code cursor xdg-open open curl wget tar gzip unzip make perl
	docker podman kubectl systemctl journalctl apt apt-get dnf yum pacman brew crontab ping ip ss lsof
	pager editor sensible-pager sensible-editor sensible-browser view vimdiff x-www-browser www-browser batcat bat delta fzf jq
	gpg-agent pinentry ssh-askpass direnv starship toolcrib claude codex gemini opencode`

// brought are those that packages of npm bring along under such names.
const brought = "open code cursor jq fzf bat delta rg make clear claude codex gemini opencode toolcrib starship direnv"

// hasWord tells whether one of the words of a text is this one.
func hasWord(words, word string) bool {
	if word == "" || strings.ContainsAny(word, " \t\n") {
		return false
	}
	for from := 0; ; {
		at := strings.Index(words[from:], word)
		if at < 0 {
			return false
		}
		begin, end := from+at, from+at+len(word)
		if (begin == 0 || isSpace(words[begin-1])) && (end == len(words) || isSpace(words[end])) {
			return true
		}
		from = end
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// IsCommand tells whether a name is that of a program that people and their tools run by
// themselves, or that git makes of an address or a setting. What is put before such a
// program of the machine would be run instead.
func IsCommand(name string) bool {
	name = strings.ToLower(name)
	return hasWord(commands, name) || strings.HasPrefix(name, "git-remote-") || strings.HasPrefix(name, "git-credential-")
}

// IsPackaged tells of such a name whether packages of npm have programs of that name.
func IsPackaged(name string) bool { return hasWord(brought, strings.ToLower(name)) }

// IsRunner tells whether a name is that of a program that npx starts packages with: it
// puts the programs of a project before those of the machine.
func IsRunner(name string) bool {
	return slices.Contains([]string{"node", "nodejs", "python", "python3"}, strings.ToLower(name))
}
