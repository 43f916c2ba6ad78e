package sensitive

// ObeyedAtHome lists what is obeyed in a home directory only, below it, besides
// what [Obeyed] has: settings of agents that name programs, what editors and
// interpreters run, what lies in PATH or is started on demand.
func ObeyedAtHome() []string {
	return []string{
		".claude.json", ".config/Claude", ".config/zed", ".config/goose", ".codeium", ".config/Code/User", ".config/Cursor/User", ".config/VSCodium/User", ".config/Windsurf/User",
		".vscode-server/data", ".agents", ".config/mycroft", ".mycroft", ".config/opencode", ".config/crush", ".config/amp", ".lmstudio/mcp.json", ".config/toolcrib",
		".config/nvim", ".config/vim", ".vim", ".emacs", ".emacs.d", ".config/emacs", ".config/helix", ".config/kak", ".config/micro", ".nanorc",
		".tmux.conf", ".config/tmux", ".screenrc", ".config/zellij", ".config/kitty", ".config/alacritty", ".config/wezterm", ".wezterm.lua",
		".cargo/env", ".cargo/bin", ".bunfig.toml", ".pip", ".asdfrc", ".terraformrc", ".ansible.cfg", ".config/direnv", ".direnvrc", ".config/pip", ".config/npm", ".config/containers", ".config/bash",
		".config/zsh", ".oh-my-zsh", ".config/nushell", ".config/powershell", ".config/starship.toml", ".pythonrc.py", ".ipython", ".config/pythonrc", ".gdbinit", ".lldbinit", ".sqliterc",
		".psqlrc", ".config/i3", ".config/sway", ".config/hypr", ".local/share/dbus-1", ".local/share/applications", ".local/share/systemd", ".local/bin", ".config/mimeapps.list",
		".config/plasma-workspace", ".config/openbox", ".config/upstart", ".forward", ".procmailrc", ".crontab", ".parallel", ".config/gh-copilot", ".gradle/init.d", ".gradle/gradle.properties", ".m2/settings.xml",
		".bash_completion", ".local/share/bash-completion", ".fzf.bash", ".fzf.zsh", ".iterm2_shell_integration.bash", ".iterm2_shell_integration.zsh", ".nvm/nvm.sh", ".asdf/asdf.sh", ".sdkman/bin/sdkman-init.sh", ".opam/opam-init", ".ghcup/env", ".xonshrc",
		".config/xonsh", ".config/elvish", ".config/husky", ".gitconfig.local", ".tigrc", ".config/lazygit", ".hgrc", ".config/hg", ".jjconfig.toml", ".config/jj", ".config/sapling", ".subversion/config", ".mailcap",
		".emacs.el", ".doom.d", ".config/doom", ".spacemacs", ".gvimrc", ".config/awesome", ".config/bspwm", ".config/sxhkd", ".config/qtile", ".config/river", ".config/niri", ".config/waybar", ".config/polybar", ".config/lxsession", ".xmonad", ".fluxbox/startup",
		".pyenv/shims", ".rbenv/shims", ".asdf/shims", ".local/share/mise/shims", ".volta/bin", ".bun/bin", ".deno/bin",
		"bin", "go/bin", "miniconda3/bin", "miniconda3/etc", "anaconda3/bin", "anaconda3/etc", "miniforge3/bin", "miniforge3/etc", "mambaforge/bin", "mambaforge/etc", "google-cloud-sdk/bin",
		"google-cloud-sdk/path.bash.inc", "google-cloud-sdk/path.zsh.inc", "google-cloud-sdk/completion.bash.inc", "google-cloud-sdk/completion.zsh.inc", "perl5/bin", "flutter/bin",
	}
}
