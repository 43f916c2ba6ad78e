package secrets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlacesOfValues: lists, pairs of tags, blocks, and lines of settings whose
// values have signs in them.
func TestPlacesOfValues(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(11, 12))
	for _, tt := range []struct{ name, text string }{
		{"list", `passwords = ["%p", "%p", "%p"]`}, {"list of JSON", "{\"api_tokens\": [\n  \"%k\",\n  \"%k\"\n]}"}, {"list of YAML", "passwords:\n  - \"%p\"\n  - '%p'\n  - %p\nother: x\n"},
		{"pair of tags", "<entry>\n  <key>db.password</key>\n  <value>%p</value>\n</entry>"}, {"property list", "<dict><key>ApiToken</key><string>%k</string></dict>"}, {"pair of parameters", "<param-name>PASSWORD</param-name>\n<param-value>%p</param-value>"},
		{"pair of capitals", `{"key": "PASS", "value": "%p"}`}, {"variable in a tag", "<item>DB_PASSWORD=%p</item>"}, {"variable in YAML", "env: DB_PASSWORD=%p\n"},
		{"template of a cloud", "DBPassword:\n    Description: of the database\n    Type: String\n    Default: %p\n"}, {"template in JSON", `"DBPassword": {"Type": "String", "Default": "%p"}`},
		{"tag of several lines", "<SessionToken>\n    %b\n    %b\n    %b==\n</SessionToken>"}, {"npm", "//registry.example.net/:_authToken=%p"}, {"Gradle", "credentials {\n  username \"bob\"\n  password \"hard_coded\"\n}"},
		{"user behind", "Pwd=%p;Uid=sa;"}, {"pieces", "TOKEN = (\n    \"%k\"\n    \"%k\"\n    \"%k\"\n)"}, {"pieces with a sign", "String token = \"%k\" +\n  \"%k\";"}, {"compared before", `if ("%k".equals(password)) {`}, {"list of one kind", `{"secret_keys":["%k"]}`},
	} {
		var gone []string
		text := tt.text
		for _, kind := range []string{"%p", "%k", "%b"} {
			for strings.Contains(text, kind) {
				value := made(r, map[string]int{"%p": 9, "%k": 32, "%b": 64}[kind])
				gone = append(gone, value)
				text = strings.Replace(text, kind, value, 1)
			}
		}
		gone = append(gone, "hard_coded")
		got := s.Strike(text, nil)
		for _, value := range gone {
			if strings.Contains(got, value) {
				t.Errorf("%s: %q is left in %q", tt.name, value, got)
			}
		}
	}
	for _, text := range []string{
		"case \"PASS\":\n\tok++\n", "<key>password</key><true/>", "<key>passwordPolicy</key><string>strong</string>", "passwords:\n  - name: x\n    file: y\n", "password:\n  description: what it is\n  type: string\n", "tokens = [\"if\", \"then\", \"else\"]", "Parameters:\n  Password:\n    Type: String\n    NoEcho: true\n",
		"<key>token</key>\n<value>${TOKEN}</value>", "LEVEL=a&b;c\n", `token := "Bearer " + "of the user"`, `if ("GET".equals(token)) {`,
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestSignsInValues: keys that generators make of every sign there is, in quotes
// and on a line of settings.
func TestSignsInValues(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(13, 14))
	const django = "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"
	const press = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()-_ []{}<>~`+=,.;:/?|"
	draw := func(from string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		b[0], b[n-1] = 'k', '7'
		return string(b)
	}
	missed := 0
	const rounds = 200
	for range rounds {
		for _, text := range []string{"define('AUTH_KEY',         '%s');", "define( 'LOGGED_IN_SALT', '%s' );", `define("NONCE_KEY", "%s");`} {
			value := draw(press, 64)
			if text = fmt.Sprintf(text, value); strings.Contains(s.Strike(text, nil), value) {
				missed++
			}
		}
		for _, text := range []string{"SECRET_KEY = '%s'\n", "DEBUG=1\nSECRET_KEY=%s\nX=y\n", "export SECRET_KEY=%s\n", "KEY = 'django-insecure-%s'\n"} {
			value := draw(django, 50)
			if text = fmt.Sprintf(text, value); strings.Contains(s.Strike(text, nil), value) {
				missed++
			}
		}
	}
	if missed*25 > rounds*7 { // a generator may give anything, also what can be read
		t.Errorf("%d of %d are left", missed, rounds*7)
	}
	for _, text := range []string{
		`token: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"`, `define('AUTH_KEY', 'put your unique phrase here');`, "TOKEN=a&b=c&d=e\n", `key = "Hello, world! This is a <b>sentence</b>; it has 5 signs & words = text"`,
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}
