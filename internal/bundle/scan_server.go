package bundle

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// ScanServers looks at what the servers of a package are started with, word by word as it
// would be: a manifest can be written so that no line of it shows the command.
func ScanServers(p *Package) (found []Finding) {
	s := &scan{looks: looks()}
	var defaults []string
	for _, a := range p.Asks {
		defaults = append(defaults, "${ask:"+a.Name+"}", a.Default)
	}
	fill := strings.NewReplacer(defaults...)
	for _, server := range p.Servers {
		at := "server " + server.Name
		words := []string{server.Command}
		for _, a := range server.Args {
			words = append(words, fill.Replace(a))
		}
		for line := range strings.Lines(strings.Join(words, " ")) {
			s.line(at, 0, strings.TrimRight(line, "\r\n"))
		}
		for _, key := range slices.Sorted(maps.Keys(server.Env)) {
			value := fill.Replace(server.Env[key])
			s.line(at, 0, key+"="+value)
			if how := loadsCode(key, value); how != "" && server.Command != "" {
				s.add(Finding{Path: at, Severity: how, What: "the variable " + key + " changes what its command runs", Text: clipped(key + "=" + value)})
			}
		}
		if slices.Contains([]string{"docker", "podman", "nerdctl"}, server.Launcher) {
			for i, w := range words {
				if opensMachine.MatchString(w) || i > 0 && (words[i-1] == "-v" || words[i-1] == "--volume") && wholeMachine.MatchString(w) {
					s.add(Finding{Path: at, Severity: Dangerous, What: "its container is given more of this machine than a container should have", Text: clipped(w)})
				}
			}
		}
		if strings.HasPrefix(server.Command, Data) || slices.ContainsFunc(words[1:min(2, len(words))], func(w string) bool { return strings.HasPrefix(w, Data) }) {
			s.add(Finding{Path: at, Severity: Caution, What: "it runs a file of the folder that it writes itself, which nothing holds against what you said yes to", Text: clipped(strings.Join(words, " "))})
		}
		if u, err := url.Parse(server.URL); err == nil && server.URL != "" {
			if _, err := netip.ParseAddr(u.Hostname()); err == nil || loopback(u.Hostname()) {
				s.add(Finding{Path: at, Severity: Caution, What: "it is reached by a number or on your own machine, where other programs of yours may answer", Text: clipped(u.Host)})
			}
		}
		for _, r := range server.URL {
			if r > '~' {
				s.add(Finding{Path: at, Severity: Dangerous, What: "its address has other letters than plain ones, which may look like those of another address", Text: fmt.Sprintf("%+q", server.URL)})
				break
			}
		}
	}
	return s.found
}

var (
	opensMachine = pattern.Of(`^--privileged(=true)?$|^--(pid|ipc|userns|uts)=host$|^--cap-add=(ALL|SYS_ADMIN|SYS_PTRACE)$|^(-v|--volume=|--mount=).*docker\.sock|docker\.sock:|^(-v|--volume=)(/|~|\$HOME|/root|/home|/etc|/var|/proc|/sys)/?:|source=/(,|$)`)
	wholeMachine = pattern.Of(`^(/|~|\$HOME|/root|/home|/etc|/var|/proc|/sys)/?:`)
	nodeLoads    = pattern.Of(`(^|\s)(-r|--require|--import|--loader|--experimental-loader|--inspect\S*|--env-file\S*|--eval|-e)(\s|=|$)`)
)

// loadsCode: a variable has a program run other code than its words say. Empty: it does not.
func loadsCode(key, value string) Severity {
	key = strings.ToUpper(key)
	switch {
	case key == "NODE_OPTIONS" && nodeLoads.MatchString(value),
		slices.Contains([]string{"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "PROMPT_COMMAND", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF"}, key),
		strings.HasPrefix(key, "DYLD_"):
		return Dangerous
	case slices.Contains([]string{"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "NODE_PATH", "NODE_OPTIONS", "PERL5LIB", "RUBYLIB", "CLASSPATH", "HOME", "XDG_CONFIG_HOME", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}, key),
		strings.HasSuffix(key, "_PROXY"):
		return Caution
	}
	return ""
}
