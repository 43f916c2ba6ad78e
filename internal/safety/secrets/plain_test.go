package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlainPasswords: a password that is a word is told by its place, in every
// syntax that settings, code and commands have.
func TestPlainPasswords(t *testing.T) {
	s := testScanner(t)
	for _, place := range []string{
		`password = "%s"`, "password: %s", "PASSWORD=%s", "export DB_PASSWORD=%s", "db.password=%s", `"password": "%s",`, "<password>%s</password>", `<add key="Password" value="%s" />`,
		"'password' => '%s',", `define("DB_PASSWORD", "%s");`, `$password = "%s";`, `String password = "%s";`, "const password = `%s`;", "ENV MYSQL_ROOT_PASSWORD %s", "ENV MYSQL_ROOT_PASSWORD=%s", "docker run -e POSTGRES_PASSWORD=%s postgres",
		"mysql -u root -p%s db", "mysql -u root --password=%s db", "sshpass -p %s ssh u@h", "curl -u admin:%s https://api.acme.io/", "ftp://bob:%s@ftp.acme.io/x", "postgres://bob:%s@db.acme.io:5432/app", "redis://:%s@cache.acme.io:6379/0",
		"Server=db;Database=a;User Id=sa;Password=%s;", "jdbc:mysql://h:3306/db?user=root&password=%s", "CREATE USER 'bob'@'h' IDENTIFIED BY '%s';", "alter user bob identified by password '%s'", "ALTER USER bob WITH PASSWORD '%s';",
		"tool --password %s", "machine h.acme.io login bob password %s", "spring.datasource.password=%s", `if password == "%s":`, `login(username="bob", password="%s")`, "- name: DB_PASSWORD\n  value: %s", "proxy-password:\n  value: %s", "password:\n  %s\n", "password: |\n  %s\n",
		"[client]\nuser=root\npassword=%s\n", "variable \"db_password\" {\n  default = \"%s\"\n}", `NetworkCredential("bob", "%s")`, "dbname=a user=b password=%s host=c", `The password is "%s".`, "PSEXEC \\\\h -u a -p %s cmd",
		"user: admin, password: %s1", "PGPASSWORD=%s psql -h h", "keytool -storepass %s -v", "unzip -P %s1 x.zip", "kubectl create secret generic x --from-literal=password=%s", "psk=\"%s\"", "Dim password As String = \"%s\"", "[\"--password\", \"%s\"]", "https://user:%s@example.com/x",
	} {
		for _, value := range []string{"hunter2", "letmein", "correcthorse", "qwerty123", "S3cr3tP4ss", "P@ssw0rd!"} {
			if text := fmt.Sprintf(place, value); strings.Contains(s.Strike(text, nil), value) {
				t.Errorf("%q: it is still there", text)
			}
		}
	}
}

// TestNoPlainPasswords: what stands in the place of a password, and is none.
func TestNoPlainPasswords(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"password: string", "password = content", "password: urlPassword,\n", "pass: this._auth.pass,", "self.url_password = url_password\n", `"password": "Passwort"`, `"password": "PASSWORD"`, `type="password" name="password"`, `password?: SensitiveString;`,
		"def __init__(self, username=None, password=None):", `PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True})`, "Re-authenticate using password (`reauthenticate`).", "password=${DB_PASSWORD}", "password: <your password>", `password: ""`,
		"X_PASSWORD_OMITV7        = 0x02", `_UNRESERVED_PAT = r"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._\-~"`, "key, err := ParseRawPrivateKeyWithPassphrase(pemBytes, passphrase)", "{AWS.STS.assumeRoleWithWebIdentity}", `"WrappingKeySpec": "RSA_4096"`,
		"password:\n  type: string\n", "token:\n  description: what it is\n",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestNamesAbove: a key whose name stands on a line before it.
func TestNamesAbove(t *testing.T) {
	s := testScanner(t)
	const key = "bd9627decc6346d780b3b6ab6ea8fe1f"
	for _, text := range []string{
		"Please use the following password to proceed to installation:\n\n" + key + "\n\nThis may also be found", "api_token:\n  " + key + "\n", "\"api_token\":\n  \"" + key + "\",", "secret: >-\n  " + key, "\"method\": \"login_with_api_key\",\n\"params\": [\n\"10-6LZBVhNq8zze0rzXJptfSWDBosk\"",
	} {
		if len(s.Find(text, nil)) == 0 && strings.Contains(text, key) {
			t.Errorf("%q: it is still there", text)
		}
	}
	for _, text := range []string{"keys:\n  " + key + "  a.tar.gz\n", "the key is public\n" + key + "\n", "commit:\n" + key + "\n"} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestBrokenBlobs: the lines of a picture in base64 hold no keys.
func TestBrokenBlobs(t *testing.T) {
	s := testScanner(t)
	const blob = "AQfIx62PO9////weqUWBQA8s5MsQyJALlJB4zPuZ4/xco+fD/vf93/9/5f/v/rf83/m9+YCMbKhsskAC1CwdgZGPArwCkhgnkaBZWNnYOTi5uHl4+fgFBIWERUTFxCUmgm6UZZGTl"
	if found := s.Find(blob, nil); len(found) > 0 {
		t.Errorf("%s takes %q", found[0].Rule, blob[found[0].Start:found[0].End])
	}
	for _, anchor := range []string{"YCM", "AQAAAA", "AKIA", "LTAI", "EXO", "BSA"} {
		line := "AQfIx62PO9aweqUWBQA8s5MsQyJALlJB4zPuZ4xcofDvf93l95fvrf83m9qP"
		text := line + "\n" + anchor + "bKhsskAC1CwdgZGPArwCkhgnkaBZWNnYOTi5uHl4zz01+\n" + line + "\n"
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%q: %s takes %q", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestLongerKeys: what begins like nothing else is a key, also behind a letter
// and if more follows than its provider says.
func TestLongerKeys(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{"CFPAT-" + strings.Repeat("aB3dE6", 11), "0tskey-" + "api-AAAAAAAAAAAA-BBBBBBBBBBBBBBBBBBBBBBBB", "MY_sntrys_" + strings.Repeat("aB3dE6", 11), "npm_" + strings.Repeat("01", 18), "dareboost=" + strings.Repeat("aB3dE6fXk29dLmQ0zPq8", 4)} {
		if found := s.Find(text, nil); len(found) == 0 {
			t.Errorf("%q is not found", text)
		}
	}
}
