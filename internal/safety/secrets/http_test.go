package secrets

import (
	"strings"
	"testing"
)

// What lets one in over HTTP, however the request is written down.
func TestRequests(t *testing.T) {
	s := testScanner(t)
	for text, secret := range map[string]string{
		"GET / HTTP/1.1\nHost: a.io\nAuthorization: Bearer mock-bearer-1\n":         "mock-bearer-1",
		"- name: Authorization\n  value: Bearer mock-bearer\n":                      "mock-bearer",
		`{"key": "Authorization", "value": "Bearer service_jwt_777"}`:               "service_jwt_777",
		`{"headers":{"authorization":"Bearer example-token","accept":"*/*"}}`:       "example-token",
		"curl --oauth2-bearer \"eZs2fjkjD8hUcsQ37b8zHig==\" https://a.io":           "eZs2fjkjD8hUcsQ37b8zHig",
		"setopt(c, CURLOPT_XOAUTH2_BEARER, \"K5aS1fMnmhQJMRKRw75Mwm3AVuRVZT39\");":  "K5aS1fMnmhQJMRKRw75Mwm3AVuRVZT39",
		"Cookie: theme=dark; session_id=abc123dotnet; lang=en\n":                    "abc123dotnet",
		"Set-Cookie: token=super_secret; Path=/; HttpOnly\n":                        "super_secret",
		`"cookie":"sid=xyz98765"`:                                                   "xyz98765",
		`"csrfToken": "abc123def456ghi789jkl012mno345pq"`:                           "abc123def456ghi789jkl012mno345pq",
		"XSRF-TOKEN: 9876543210fedcba9876543210fedcba":                              "9876543210fedcba9876543210fedcba",
		"https://a.io/x?u=https%3A%2F%2Fb%26token%3Dh1d3Me4ch534d801sl3jdk%26v%3D3": "h1d3Me4ch534d801sl3jdk",
		"requests.get(u, auth=(\"bob\", \"hunter22\"))":                             "hunter22",
		"HTTPBasicAuth('bob', 'hunter22')":                                          "hunter22",
	} {
		if out := s.Strike(text, nil); strings.Contains(out, secret) {
			t.Errorf("%q is left as %q", text, out)
		}
	}
	for _, text := range []string{
		"Set-Cookie: theme=dark-blue; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "Authorization: Bearer YOUR-TOKEN-HERE", "Authorization: Bearer access_token", "the bearer of bad news-paper",
		"document.cookie = name + \"=\" + value;", "auth=(user, password)", "client.login(\"user\", \"password\")",
	} {
		if out := s.Strike(text, nil); out != text {
			t.Errorf("%q: %q", text, out)
		}
	}
}

// Values that are used if nothing else is set, names that are written in other
// ways, and passwords in sentences.
func TestFallbacks(t *testing.T) {
	s := testScanner(t)
	for text, secret := range map[string]string{
		`PASSWORD = os.environ.get("PASSWORD") or "at5G6zi!m"`: "at5G6zi!m",
		`const p = process.env.PASSWORD || "hunter22"`:         "hunter22",
		`SECRET := getenv("X", "GEHEIMN1S9")`:                  "GEHEIMN1S9",
		`password = os.getenv("X", default="hunter22")`:        "hunter22",
		"MYSQLPASS: Ce7shE0ENPiBlE":                            "Ce7shE0ENPiBlE", "X3_PSWD=d37Yt1Jnv0-z": "d37Yt1Jnv0-z", "ID:master,PWD:dipPr112Gg!": "dipPr112Gg!",
		"user admin password S3cret!pw": "S3cret!pw", "my password is 237dg546fs9": "237dg546fs9", "password=p@$$w0rd{1}\n": "p@$$w0rd{1}",
		`token <- "abcDEF123456ghiJKL"`: "abcDEF123456ghiJKL", `setopt(c, CURLOPT_PROXYPASSWORD, "d!~ORI8ed7293eg@w8&()");`: "d!~ORI8ed7293eg@w8&()",
		`client_secret: "hardcoded12"`: "hardcoded12",
	} {
		if out := s.Strike(text, nil); strings.Contains(out, secret) {
			t.Errorf("%q is left as %q", text, out)
		}
	}
	for _, text := range []string{"PWD=/home/bob2/src", "bypass = \"compass12\"", "your password is too short", "password = getenv(\"X\", None)", "let p = props.password || props.name", "the password is 8-20 characters long", "password={this.state.value1}"} {
		if out := s.Strike(text, nil); out != text {
			t.Errorf("%q: %q", text, out)
		}
	}
}

// Keys of Tink and of web push.
func TestKeysets(t *testing.T) {
	s := testScanner(t)
	for text, secret := range map[string]string{
		`{"primaryKeyId":1,"key":[{"keyData":{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","keyMaterialType":"SYMMETRIC","value":"GhCS1mXqE0w1iQO2bXg5hqKp"},"status":"ENABLED"}]}`:    "GhCS1mXqE0w1iQO2bXg5hqKp",
		`{"keyData":{"value":"GhCS1mXqE0w1iQO2bXg5hqKp","typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey"}}`:                                                                                "GhCS1mXqE0w1iQO2bXg5hqKp",
		"webpush.setVapidDetails(\n  'mailto:a@b.io',\n  'BFKSGCtM-gouDaPSNYwDRmCTCSEelTpujQ6mHG2KIXaaJI9WLReodcS00QE4ck8P5uPHLSkNKZ7ZAWjpgITwrNI',\n  'rrvzfePgU7wc8RP7fcSMR-8ur2nDzqissXT5ovojK6Q')": "rrvzfePgU7wc8RP7fcSMR-8ur2nDzqissXT5ovojK6Q",
		"acme_Q7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaUeTi": "Q7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaUeTi",
	} {
		if out := s.Strike(text, nil); strings.Contains(out, secret) {
			t.Errorf("%q is left as %q", text, out)
		}
	}
	text := `{"typeUrl":"type.googleapis.com/google.crypto.tink.EcdsaPublicKey","value":"EgYIAxACGAIaIQDKMZCF7WEXcXQLQm8O"}`
	if out := s.Strike(text, nil); out != text {
		t.Errorf("a public key is gone: %q", out)
	}
}
