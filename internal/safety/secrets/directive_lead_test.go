package secrets

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDirectivesBehindPrefixes: a line of settings is found as everyday programs show it, and also
// with a password that is a plain word.
func TestDirectivesBehindPrefixes(t *testing.T) {
	s := testScanner(t)
	for _, prefix := range []string{
		"3:", "3-", "3:1:", "conf/nslcd.conf:", "conf/nslcd.conf:3:", "conf/nslcd.conf-3-", "conf/nslcd.conf-", "nslcd:", "HEAD:conf/nslcd.conf:3:", "./a-b-c.conf:12:7:", `C:\conf\nslcd.conf:3:`, "conf/nslcd.conf:3:\t", "3:    ",
		"+", "-", " ", "++", " +", "+  ", "+\t", "! ", "< ", "> ", ">> ", "> > ", "> +", "3:+", "conf/a.patch:3:+",
		"     3\t", "3\t", "     3  \t", "3 │ ", "  3 | ", "     3→", "  3 │ +", "^1a2b3c4d (A. U. Thor 2026-01-02 10:00:00 +0100 3) ", "1a2b3c4d conf/nslcd.conf (A. U. Thor 2026-01-02 10:00:00 -0700  3) ",
	} {
		for line, secret := range map[string]string{"bindpw topsecretpw": "topsecretpw", "rocommunity corpmonitor 10.0.0.0/8": "corpmonitor", "trap2sink 10.0.0.9 corpmonitor": "corpmonitor", "bindpw\tS3cr3tPass99": "S3cr3tPass99"} {
			text, want := "uid nslcd\n"+prefix+line+"\nbase dc=x\n", "uid nslcd\n"+prefix+strings.Replace(line, secret, Mark, 1)+"\nbase dc=x\n"
			if got := s.Strike(text, nil); got != want {
				t.Errorf("%q: %q", text, got)
			}
			if got := s.Strike(text[len("uid nslcd\n"):], nil); got != want[len("uid nslcd\n"):] {
				t.Errorf("at the beginning: %q", got)
			}
			doc, err := json.Marshal(map[string]any{"content": text, "rows": []string{prefix + line}})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Redact(doc, nil)); strings.Contains(got, secret) {
				t.Errorf("in a document: %s", got)
			}
			if got := s.Strike(string(doc), nil); strings.Contains(got, secret) && !strings.Contains(prefix, `\`) {
				t.Errorf("in a text of JSON: %s", got)
			}
		}
	}
	for _, prefix := range []string{"# ", "#", "; ", "// ", "- ", "* ", " * ", "-- ", "ldap: ", "3: ", "      3 ", "/etc/nslcd.conf: ", "3:# "} {
		if got, want := s.Strike(prefix+"bindpw S3cr3tPass99", nil), prefix+"bindpw [redacted]"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDirectivesInFull: flags and remarks make a line no sentence, and each kind of line has its
// password in its own place.
func TestDirectivesInFull(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"rocommunity %s default -V systemonly", "rwcommunity %s # for the old switches", "rocommunity %s default .1.3.6.1.2.1 # a remark of several words", "com2sec -Cn ctx readonly default %s", "com2sec %s default corpsecret",
		"trapcommunity %s", "trapcommunity %s # traps", "trapsink localhost %s", "trap2sink 10.0.0.1:162 %s", "trap2sink nms.example.org %s 162", "informsink -profile p1 nms01 %s", "TrapSink nms.example.org %s",
	} {
		const value = "corpmonitor"
		if strings.HasPrefix(text, "com2sec %s") {
			if got := s.Strike(strings.Replace(text, "%s", "corpsecret", 1), nil); got != "com2sec corpsecret default [redacted]" {
				t.Errorf("the name of the same text is taken: %q", got)
			}
			continue
		}
		if got, want := s.Strike(strings.Replace(text, "%s", value, 1), nil), strings.Replace(text, "%s", Mark, 1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDirectivesInProse: what manuals, remarks, logs and help texts say about such lines stays.
func TestDirectivesInProse(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"the community string", "set bindpw to the password of the account", "set bindpw to S3cr3tPass99", "Use bindpw option", "- bindpw option", "* rocommunity lines", "# bindpw option", "# rocommunity access only", "# rocommunity SNMPv2 access", "#bindpw secret", "#rocommunity secret  10.0.0.0/16", "#trapsink     localhost public",
		"nslcd: bindpw rejected", "Jan  2 10:30:15 host nslcd[3]: bindpw missing", "2026-01-02T10:30:15Z bindpw rejected", "10:30:15: bindpw rejected", "/etc/nslcd.conf:3: bindpw missing", "nslcd.conf: bindpw missing", "Note: bindpw needed", "see also: rocommunity lines",
		"  --rocommunity FILENAME", "--trapcommunity FILENAME", "-> bindpw option", "x => bindpw option", "<code>bindpw option</code>", "`bindpw option`", "| `bindpw` and `rootpw` |", "| bindpw option |", "There were 3 bindpw lines", "3 bindpw lines", "3. bindpw option",
		"       bindpw <password>", "       trapcommunity STRING", "       trapsink HOST [COMMUNITY [PORT]]", "       com2sec  [-Cn CONTEXT] SECNAME SOURCE COMMUNITY", "       rocommunity COMMUNITY [SOURCE [OID | -V VIEW [CONTEXT]]]", "trapsink sends notifications", "informsink directive here", "trap2sink localhost public", "trapsink 10.0.0.1",
		"trapcommunity defines the default community string to be used", `"bindpw": option`, `x = "uri" + bindpw option`, "if bindpw == nil {", "3:\tbindpw := os.Getenv(name)", "conf.go:3:\tcase \"bindpw\", \"rootpw\":",
	} {
		if got := s.Strike(text, nil); got != text {
			t.Errorf("%q is taken out: %q", text, got)
		}
	}
}
