package secrets

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEverySecondPlace: a value that was found beside its name is struck in
// every other place of the text, and of the whole of a JSON document, but a
// common word is not.
func TestEverySecondPlace(t *testing.T) {
	s := testScanner(t)
	key := "Xk29dLmQ0zPq8" + "RtYw3Vb7NcA"
	for _, text := range []string{
		"api_token = '" + key + "' | '" + key + "'", "see " + key + " first\ntoken: \"" + key + "\"\n", "token=" + key + "\n" + strings.Repeat("a line of a log\n", 500) + "GET /x/" + key + "/y",
	} {
		if got := s.Strike(text, nil); strings.Contains(got, key) {
			t.Errorf("it is still in %.300q", got)
		}
	}
	doc := `{"note":"use ` + key + ` there","list":[{"access_token":"` + key + `"}],"` + key + `":1}`
	if got := string(s.Redact(json.RawMessage(doc), nil)); strings.Contains(got, key) || !strings.Contains(got, "there") || !json.Valid([]byte(got)) {
		t.Errorf("got %s", got)
	}
	text := "mysql://root:postgres@db.internal/x and the database is postgres, not postgresql"
	if got := s.Strike(text, nil); !strings.Contains(got, "is postgres, not postgresql") {
		t.Errorf("a common word is taken out: %q", got)
	}
}

// TestWeakLogins: passwords that are plain words, where nothing but a password
// can stand.
func TestWeakLogins(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"Driver={SQL Server};Server=db;Database=x;Uid=sa;Pwd=%;", "Data Source=db; User ID=sa; Password=%; Encrypt=true", "jdbc:sqlserver://db:1433;user=sa;password=%;", "postgres://user:%@db.internal/x", "mongodb://admin:%@10.0.0.5:27017",
		"username = 'admin'\npassword = '%'\n", "$mail->Username = 'me@corp.org';\n$mail->Password = '%';", "net user bob % /add", `net use z: \\srv\share % /user:corp\bob`, `ConvertTo-SecureString "%" -AsPlainText -Force`, `ConvertTo-SecureString -String '%' -AsPlainText`,
	} {
		for _, pass := range []string{"sommer", "hunter", "welkom01"} {
			one := strings.Replace(text, "%", pass, 1)
			if got := s.Strike(one, nil); strings.Contains(got, pass) {
				t.Errorf("%q is left as %q", one, got)
			}
		}
	}
	for _, text := range []string{
		"postgres://$USER:$PASS@db/x", "Server=db;Uid=sa;Pwd=${PW};", "username: string\npassword: string\n", `{"username":"Username","password":"Password"}`, "net user bob", "net user bob * /add",
		"username = 'x'\npassword = 'changeme'", "user: string; password: string;", "ConvertTo-SecureString $pw -AsPlainText -Force",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestNearItsName: a key that stands on the line of its name, with words or signs
// between, or joined to it by a dash.
func TestNearItsName(t *testing.T) {
	s := testScanner(t)
	key, hex := "Xk29dLmQ0zPq8"+"RtYw3Vb7NcA", "9f86d081884c7d65"+"9a2feaa0c55ad015"
	for _, text := range []string{
		"the token of the service is %, take it", "apiKey | %\nbaseUrl | x", "service token - '%'\n", "private key 0x%% of the wallet", "my-api-key-%", "<secret>{of x %}</secret>", "Using token % now",
	} {
		for _, value := range []string{key, hex} {
			one := strings.ReplaceAll(text, "%", value)
			if got := s.Strike(one, nil); strings.Contains(got, value) {
				t.Errorf("%q is left as %q", one, got)
			}
		}
	}
	for _, text := range []string{
		"key: commit " + hex + "12345678", "the token is sha256:" + hex + hex, "token in github.com/x/token-manager@v0.0.0-20200102030405-abcdef123456", "example.org/x/token v0.0.0-20210514164344-f6687ab2804c h1:" + hex + "=\n", "require example.org/api-key v1.2.3-0.20210514164344-f6687ab2804c", "def load(self, token: bytes) -> ed25519.Ed25519PrivateKey:", "import { tokenManagerServiceFactoryBuilder2 } from 'x'",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestPlainBodies: what begins like nothing else is a key, whatever follows.
func TestPlainBodies(t *testing.T) {
	s := testScanner(t)
	for _, key := range []string{"sk_live_" + strings.Repeat("A", 24), "shippo_test_" + strings.Repeat("b", 40), "tskey-api-" + strings.Repeat("C", 12) + "-" + strings.Repeat("D", 24), "shpss_" + "QlRSJy5AXX1cILNjVatTsEIhFxuPF5ex"} {
		if got := s.Strike("it is "+key+" here", nil); strings.Contains(got, key) {
			t.Errorf("%s is left", key)
		}
	}
	for _, sham := range []string{"sk_live_your_key_here", "shippo_live_<token>"} {
		if found := s.Find("it is "+sham+" here", nil); len(found) > 0 {
			t.Errorf("%s is taken", sham)
		}
	}
}
