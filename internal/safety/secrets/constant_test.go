package secrets

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestConstants: a random text in quotes is a secret where source code or settings
// set something to it, and an identifier where a list of things has it.
func TestConstants(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(21, 22))
	for _, text := range []string{`const magic = "%s"`, `conn = '%s'`, `let x = "%s";`, `aws "%40"`, `foo("%40")`, `{"x": "%40"}`} {
		for range 20 {
			value := made(r, 34+r.IntN(6))
			if strings.Contains(text, "%40") {
				value = made(r, 40)
			}
			m := compositionOf(value)
			if m.digit < 4 || m.upper < 5 || m.lower < 5 || m.bits < 4.3 || turnsOf(value) < drawnTurns || wordy(value) {
				continue
			}
			if whole := strings.NewReplacer("%s", value, "%40", value).Replace(text); strings.Contains(s.Strike(whole, nil), value) {
				t.Errorf("%q: it is still there", whole)
			}
		}
	}
	for _, text := range []string{
		`{"id": "%s"}`, `{"fileId":"%40"}`, `{"items":[{"name":"%s"}]}`, `"nextPageToken": "%s"`, `etag = "%s"`, `<script integrity="sha384-%s">`, `<meta name="verification" content="%s">`, `cursor = "%s"`, `sha = "%s"`, `versionId = "%40"`, `%s`, `see %s there`, `alphabet = "%s"`,
	} {
		value := made(r, 36)
		value = value[:7] + "x7Kq2" + value[12:]
		whole := strings.NewReplacer("%s", value, "%40", value+"Qz7a").Replace(text)
		if got := s.Strike(whole, nil); got != whole {
			t.Errorf("%q became %q", whole, got)
		}
	}
}

// TestSums: a sum that begins like a key is a sum all the same.
func TestSums(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(31, 32))
	for _, text := range []string{"x/y v1.2.3 h1:%s=\n", "x/y v1.2.3/go.mod h1:%s=\n", `"integrity": "sha512-%s=="`, "a.py,sha256=%s,160\n", "sha1:%s"} {
		for _, f := range s.forms {
			if f.anchor == 0 && f.plain && len(f.pieces[0].text) < 5 {
				sum := f.pieces[0].text + made(r, 43-len(f.pieces[0].text))
				if whole := strings.ReplaceAll(text, "%s", sum); s.Strike(whole, nil) != whole {
					t.Errorf("%q became %q", whole, s.Strike(whole, nil))
				}
			}
		}
	}
}

// TestArguments: passwords and keys that functions take by their place.
func TestArguments(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		`DriverManager.getConnection(url, "bob", "%s")`, `DriverManager.getConnection("jdbc:mysql://h/db", user, "%s");`, `mysqli_connect("h", "bob", "%s", "db")`, `new mysqli($host, $user, '%s')`, `new PDO("mysql:host=h", "bob", "%s")`,
		`new Sequelize('db', 'bob', '%s', {`, `pymysql.connect("h", "bob", "%s", "db")`, `createHmac('sha256', '%s')`, `cookieParser("%s")`, `ftp_login($c, "bob", "%s")`, `new SqlCredential(user, "%s")`,
		"sqlplus bob/%s@db", "jdbc:oracle:thin:bob/%s@//h:1521/x", "redis-cli -h cache -a %s ping",
	} {
		for _, value := range []string{"hunter2x", "letmein7"} {
			whole := strings.ReplaceAll(text, "%s", value)
			if got := s.Strike(whole, nil); strings.Contains(got, value) {
				t.Errorf("%q became %q", whole, got)
			}
		}
	}
	if text := "git clone https://0a1b2c3d4e5f60718293a4b5c6d7e8f901234567:x-oauth-basic@example.net/x"; strings.Contains(s.Strike(text, nil), "0a1b2c") {
		t.Errorf("%q: the token is still there", text)
	}
	for _, text := range []string{
		"getConnection(url, user, password)", `getConnection(url, "bob", "")`, `createHmac('sha256', key)`, `createHmac("sha256", process.env.KEY)`, `mysqli_connect("localhost", "root", "")`, `cookieParser()`, "sqlplus / as sysdba", "sqlplus user/password@db", "redis-cli -h cache ping", "getConnection(",
		"https://bob:x-oauth-basic@example.net/",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestJumbled: what has signs in it is no row of words if its letters change their
// case as those of words do not, or digits stand for letters.
func TestJumbled(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		`"apikey": "%s"`, "TRAVEL_API_KEY: %s", "<client_secret>%s</client_secret>", "ENV ACCESS_TOKEN %s",
	} {
		for _, value := range []string{"qXkZmQmZrTm_HaBuTz", "RtYxQbNmWpLk-somewhere", "hard-c0d3d-v41u3-x9"} {
			if whole := strings.ReplaceAll(text, "%s", value); strings.Contains(s.Strike(whole, nil), value) {
				t.Errorf("%q: it is still there", whole)
			}
		}
	}
	for _, text := range []string{`api_key: "my-service-account"`, `"apiKey": "user_access_token"`, `token: "v1alpha1-group"`, `client_secret: "ClientSecretName"`} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	value := made(r, 44)
	for _, text := range []string{"# Client password\n%s\n", "// the secret of this machine\n%s\n"} {
		if whole := strings.ReplaceAll(text, "%s", value); strings.Contains(s.Strike(whole, nil), value) {
			t.Errorf("%q: it is still there", whole)
		}
	}
}
