package secrets

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// made gives made-up letters and digits.
func made(r *rand.Rand, n int) string {
	const all = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
	}
	b[n/2], b[n/3] = '7', 'q'
	return string(b)
}

// TestSyntaxes: a secret is found in whatever language its name and its value
// are written, and nothing else of the text is taken.
func TestSyntaxes(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(3, 4))
	pass, key := made(r, 11)+"!", made(r, 32)
	basic := base64.StdEncoding.EncodeToString([]byte("aladdin:" + pass))
	for _, tt := range []struct{ name, text string }{
		{"env", "DB_PASSWORD=%p\n"}, {"export", "export API_KEY=%k"}, {"YAML", "db:\n  password: %p\n  user: x\n"}, {"quoted YAML", "api_key: '%k'"},
		{"JSON", `{"user":"x","password":"%p","n":1}`}, {"JSON key", `{"clientSecret": "%k"}`}, {"TOML", `token = "%k"`}, {"properties", "spring.datasource.password=%p"},
		{"XML tag", "<password>%p</password>"}, {"XML attribute", `<add key="DbPassword" value="%p" />`}, {"XML entry", `<entry key="secret">%k</entry>`},
		{"Go", `const apiToken = "%k"`}, {"Go var", `var apiToken string = "%k"`}, {"Rust", `let api_key: &str = "%k";`}, {"PHP", `define('DB_PASSWORD', '%p');`},
		{"Ruby", `password => '%p'`}, {"Java", `private static final String SECRET_KEY = "%k";`}, {"C#", `string password = @"%p";`}, {"Python dict", `{'token': '%k'}`},
		{"JS", "const authToken = `%k`;"}, {"Perl", `$password .= "%p";`}, {"TypeScript", `apiKey: string = "%k";`}, {"index", `config["password"] = "%p"`},
		{"flag", "tool --password %p --verbose"}, {"flag =", "tool --token=%k run"}, {"Dockerfile", "ENV SECRET_TOKEN %k\nARG API_KEY=%k"}, {"Kubernetes", "- name: DB_PASSWORD\n  value: %p\n"},
		{"PowerShell", `$env:API_TOKEN = "%k"`}, {"netrc", "machine example.net\n  login me\n  password %p\n"}, {"netrc line", "machine h login me password %p"},
		{"ADO.NET", `"Server=db;User Id=sa;Password=%p;Encrypt=true"`}, {"storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%k%k==;"}, {"JDBC", "jdbc:mysql://db:3306/x?user=a&password=%p"},
		{"postgres", "postgres://app:%p@db.internal:5432/x"}, {"mongodb", "mongodb+srv://app:%p@cluster0.mongodb.net/x"}, {"redis", "redis://:%p@cache:6379/0"}, {"amqp", "amqp://app:%p@mq/vhost"},
		{"ftp", "ftp://me:%p@ftp.internal/x"}, {"https", "git clone https://me:%p@git.internal/x.git"}, {"token in an address", "https://%k@git.internal/x.git"}, {"pgpass", "db.internal:5432:app:me:%p\n"},
		{"Bearer", "Authorization: Bearer %k"}, {"Basic", "Authorization: Basic %b"}, {"Token", `"Authorization": "Token %k"`}, {"header of curl", `curl -H "X-Api-Key: %k" https://x`}, {"curl", "curl -s -u me:%p https://x"}, {"curl, quoted", `curl --user "me:%p" https://x`},
		{"mysql", "mysql -u root -p%p db"}, {"npmrc", "//registry.npmjs.org/:_authToken=%k"}, {"docker", `{"auths":{"x":{"auth":"%b"}}}`}, {"escaped", `{"a":"{\"password\":\"%p\"}"}`},
		{"in a query", "https://api.internal/v1?access_token=%k&x=1"}, {"Kubernetes Secret", "kind: Secret\ndata:\n  tls: %b\n"}, {"credentials", `new NetworkCredential("me", "%p")`}, {"Gradle", "credentials {\n  username 'me'\n  password '%p'\n}"},
	} {
		text := strings.NewReplacer("%p", pass, "%k", key, "%b", basic).Replace(tt.text)
		got := s.Strike(text, nil)
		for _, gone := range []string{pass, key, basic} {
			if strings.Contains(got, gone) {
				t.Errorf("%s: %q is left as %q", tt.name, text, got)
			}
		}
		if plain := strings.NewReplacer("%p", Mark, "%k", Mark, "%b", Mark).Replace(tt.text); len(got) < len(plain)/2 {
			t.Errorf("%s: too much is gone: %q", tt.name, got)
		}
	}
}

// TestPlaceholders: what only stands for a value is left.
func TestPlaceholders(t *testing.T) {
	s := testScanner(t)
	for _, value := range []string{
		"changeme", "${DB_PASSWORD}", "$DB_PASSWORD", "{{ .Values.password }}", "<your-token>", "xxxxxxxxxxxxxxxx", "****************", "your_api_key_here", "process.env.TOKEN",
		"os.environ['TOKEN']", "getenv('X')", "%(password)s", "null", "None", "true", "undefined", "/run/secrets/db", "config.token", "example-token-1234", "self.password", "user.token", "string", "password", "token", "redacted", "",
	} {
		for _, form := range []string{"password = %s\n", `password: "%s"`, "API_TOKEN=%s\n", `{"secret":"%s"}`, "--token %s"} {
			text := fmt.Sprintf(form, value)
			if found := s.Find(text, nil); len(found) > 0 {
				t.Errorf("%q is taken: %q", text, text[found[0].Start:found[0].End])
			}
		}
	}
}

// TestHarmless: texts full of letters and digits that are no secrets.
func TestHarmless(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(5, 6))
	hex := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789abcdef"[r.IntN(16)]
		}
		return string(b)
	}
	b64 := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	uuid := func() string {
		h := hex(32)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	}
	names := []string{"golang.org/x/oauth2", "github.com/auth0/go-jwt-middleware", "github.com/stripe/stripe-go", "github.com/hashicorp/vault/api", "algolia-search", "@sentry/node", "twilio", "jsonwebtoken", "passport", "keytar", "datadog-metrics", "@octokit/auth-token", "csrf-token", "airtable", "secret-manager"}
	for name, line := range map[string]func(n string) string{
		"go.sum": func(n string) string {
			return n + " v1.2.3 h1:" + b64(32) + "\n" + n + " v1.2.3/go.mod h1:" + b64(32) + "\n"
		},
		"package-lock": func(n string) string {
			return `"node_modules/` + n + `": {"version": "1.0.0", "resolved": "https://registry.npmjs.org/` + n + `/-/x-1.0.0.tgz", "integrity": "sha512-` + b64(64) + `", "license": "MIT"},` + "\n"
		},
		"yarn.lock": func(n string) string {
			return `"` + n + `@^1.0.0":` + "\n  version \"1.0.1\"\n  resolved \"https://registry.yarnpkg.com/" + n + "/-/x-1.0.1.tgz#" + hex(40) + "\"\n  integrity sha512-" + b64(64) + "\n"
		},
		"pnpm-lock": func(n string) string {
			return "  /" + n + "@1.0.0:\n    resolution: {integrity: sha512-" + b64(64) + "}\n"
		},
		"Cargo.lock": func(n string) string {
			return "[[package]]\nname = \"" + n + "\"\nversion = \"0.1.2\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + hex(64) + "\"\n"
		},
		"poetry.lock": func(n string) string {
			return "    {file = \"" + n + "-1.0-py3-none-any.whl\", hash = \"sha256:" + hex(64) + "\"},\n"
		},
		"pip hashes":   func(n string) string { return n + "==1.0 \\\n    --hash=sha256:" + hex(64) + "\n" },
		"Gemfile.lock": func(n string) string { return "    " + n + " (1.2.3)\n      key (>= 1.0)\n  sha256=" + hex(64) + "\n" },
		"composer": func(n string) string {
			return `{"name": "` + n + `", "source": {"type": "git", "reference": "` + hex(40) + `"}, "dist": {"shasum": ""}},` + "\n"
		},
		"git log": func(n string) string {
			return "commit " + hex(40) + "\nAuthor: A B <a@b.org>\n\n    " + n + ": change the token\n\n"
		},
		"submodule": func(n string) string { return "+" + hex(40) + " " + n + " (v1.0)\n" },
		"actions":   func(n string) string { return "      - uses: " + n + "@" + hex(40) + " # v4\n" },
		"sums":      func(n string) string { return hex(64) + "  " + n + ".tar.gz\n" },
		"UUIDs":     func(n string) string { return uuid() + "\nid: " + uuid() + "\n" + n + "-id: " + uuid() + "\n" },
		"image": func(n string) string {
			return `<img alt="` + n + ` key" src="data:image/png;base64,` + b64(900) + `">` + "\n"
		},
		"font": func(n string) string {
			return "@font-face{font-family:" + `"` + n + `"` + ";src:url(data:font/woff2;base64," + b64(600) + ")}\n"
		},
		"SRI": func(n string) string {
			return `<script src="https://cdn.org/` + n + `.js" integrity="sha384-` + b64(48) + `" crossorigin></script>` + "\n"
		},
		"source map": func(n string) string {
			return `{"version":3,"sources":["` + n + `.ts"],"names":["token","key","secret"],"mappings":"AAAA,SAASA,` + strings.Repeat("GAAUC,IAAMC;", 30) + `"}` + "\n"
		},
		"image digest": func(n string) string { return "FROM registry.org/" + n + "@sha256:" + hex(64) + "\n" },
		"certificate": func(string) string {
			return "-----BEGIN CERTIFICATE-----\n" + b64(48) + "\n" + b64(48) + "\n-----END CERTIFICATE-----\n"
		},
		"ssh": func(n string) string {
			return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + b64(32)[:43] + " me@" + n + "\n"
		},
		"minified": func(n string) string {
			return `var e=t.token,n=r.key||"` + n + `";function a1(e){return e.secret?b2(e.password):c3(e,{key:"k1",auth:!0})}`
		},
		"lexer": func(string) string { return "<rule><token type=\"LiteralStringDouble\"/></rule>\n" },
		"ETags": func(n string) string {
			return `ETag: "` + hex(32) + `"` + "\nX-Request-Id: " + uuid() + "\nX-" + strings.Trim(n, "@./") + "-Trace: 1\n"
		},
		"wheel": func(n string) string {
			return n + "/__init__.py,sha256=" + strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(hex(32))), "=") + ",160\n"
		},
	} {
		var b strings.Builder
		for range 20 {
			for _, n := range names {
				b.WriteString(line(n))
			}
		}
		text := b.String()
		for _, f := range s.Find(text, nil) {
			t.Errorf("%s: %s takes %q in %q", name, f.Rule, text[f.Start:f.End], text[max(0, f.Start-60):min(len(text), f.End+10)])
			break
		}
	}
}
