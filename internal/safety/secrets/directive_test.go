package secrets

import (
	"strings"
	"testing"
)

// TestDirectivesAndPhrases: passwords of LDAP and SNMP, and the words of a wallet, are found, and
// lines that only speak of them stay.
func TestDirectivesAndPhrases(t *testing.T) {
	const words = "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic"
	s := testScanner(t)
	for text, want := range map[string]string{
		"bindpw S3cr3tPass99": "bindpw [redacted]",
		"binddn cn=admin,dc=x\nbindpw\ttopsecretpw\nbase dc=x":  "binddn cn=admin,dc=x\nbindpw\t[redacted]\nbase dc=x",
		"  bindpw 'open sesame'":                                "  bindpw 'open sesame'",
		"rootpw S3cr3tPass99":                                   "rootpw [redacted]",
		"rootpw S3cr3tPass99 # old":                             "rootpw [redacted] # old",
		"rootpw {SSHA}abcdef":                                   "rootpw {SSHA}abcdef",
		"rocommunity s3cr3tC0mm":                                "rocommunity [redacted]",
		"rocommunity corpmonitor 10.0.0.0/8":                    "rocommunity [redacted] 10.0.0.0/8",
		"rwcommunity6 Wr1teMe default -V all":                   "rwcommunity6 [redacted] default -V all",
		"com2sec readonly default Tr1ckyStr":                    "com2sec readonly default [redacted]",
		"snmp-server community C0rpR3ad RO":                     "snmp-server community [redacted] RO",
		`{"content":"bindpw topsecretpw\nbase dc=x","lines":2}`: `{"content":"bindpw [redacted]\nbase dc=x","lines":2}`,
		`{"content":"rocommunity s3cr3tC0mm","lines":1}`:        `{"content":"rocommunity [redacted]","lines":1}`,
		"mnemonic: " + words:                                    "mnemonic: [redacted]",
		`{"mnemonic":"` + words + `"}`:                          `{"mnemonic":"[redacted]"}`,
		"SEED_PHRASE='" + words + " " + words + "'":             "SEED_PHRASE='[redacted]'",
		"Recovery phrase:\n" + words + "\n":                     "Recovery phrase:\n[redacted]\n",

		"rocommunity public":  "rocommunity public",
		"rwcommunity private": "rwcommunity private",
		"bindpw changeme":     "bindpw changeme",
		"bindpw <password>":   "bindpw <password>",
		"bindpw is the password that the server binds with":                    "bindpw is the password that the server binds with",
		"set the bindpw option":                                                "set the bindpw option",
		"rocommunity takes the name of a community":                            "rocommunity takes the name of a community",
		"mnemonic: the first letters are for you and not for the others there": "mnemonic: the first letters are for you and not for the others there",
		"mnemonic " + words:                                                    "mnemonic " + words,
		"mnemonic: " + words + " again":                                        "mnemonic: " + words + " again",
		"mnemonic: " + strings.Repeat("abandon ", 11) + "about":                "mnemonic: " + strings.Repeat("abandon ", 11) + "about",
	} {
		if got := s.Strike(text, nil); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestPlaceholdersStay: what manuals show in the place of a secret is not taken out, and what
// only looks like it is.
func TestPlaceholdersStay(t *testing.T) {
	s := testScanner(t)
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, text := range []string{
		"AKIAIOSFODNN7" + "EXAMPLE", "aws_access_key_id = AKIAIOSFODNN7" + "EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", "ASIAIOSFODNN7" + "EXAMPLE",
		"AKIAIOSFODNN7" + "EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
		"ghp_" + x(36), "GITHUB_TOKEN=ghp_" + strings.ToUpper(x(36)), "sk-" + x(32), "sk-ant-api03-" + x(24), "sk_test_" + x(24), "xoxb-" + x(12) + "-" + x(12) + "-" + x(24), "glpat-" + x(20), "npm_" + x(36), "npm_" + strings.Repeat("0", 36), "sk_live_" + x(24),
		"postgres://user:password@localhost:5432/db", "mysql://root:password@127.0.0.1/x", "https://user:pass@example.com/", "redis://:password@localhost:6379", "postgres://user:changeme@localhost/db",
		"token: <your-token>", "password: changeme", "password=example", "api_key = 'YOUR_API_KEY'",
	} {
		if got := s.Strike(text, nil); got != text {
			t.Errorf("%q is taken out: %q", text, got)
		}
	}
	for _, text := range []string{
		"AKIAQ3EGRXJ7ZLPW2VNK", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "postgres://app:Tr0ub4dor99@localhost/x", "postgres://user:password@db.internal/x", "mysql://user:pass@prod-3.corp/x",
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a" + x(200), "password: Xx9vXxxT0k", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYq8Zp3LmTa1",
	} {
		if got := s.Strike(text, nil); got == text {
			t.Errorf("%q is not found", text)
		}
	}
}
