package sensitive

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Keys is what holds passwords and keys, wherever it lies in a granted
// directory: patterns for [ParseList]. Names that also stand for harmless files
// are decided by what the file holds. A certificate in a .pem is read by every
// program that speaks TLS, a project's .npmrc by npm, and id_map.go is source.
func Keys() []string {
	return []string{
		".env*", "*.env", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist", "!example.env", "!sample.env", "!template.env", "!*.example.env", "!*.sample.env",
		"key:.npmrc", ".netrc", "_netrc", ".git-credentials", ".pypirc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".vault-token", ".dockercfg",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "key:id_*", "key:*.key", "key:*.pem", "*.ppk",
		".aws", ".ssh", ".gnupg", ".azure", ".password-store", ".kube/config", ".docker/config.json", ".config/gcloud", ".config/gh",
		".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot", ".local/share/opencode/auth.json", ".local/share/keyrings", ".config/rclone/rclone.conf",
		".config/sops/age/keys.txt", ".config/google-chrome", ".config/chromium", ".mozilla", "*.kdbx", ".git/git-crypt",
		".config/containers/auth.json", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json", ".terraformrc",
	}
}

// MaxKey is how much of a file has to be read to judge it. A larger one counts
// as one that holds a key.
const MaxKey = 1 << 20

// HoldsKey judges a regular file whose name is [Keyed] by its content; whole says
// that this is all of it. What is not understood holds a key, but for id_*: keys
// of that name begin with a line that says so, and other files of that name are
// common.
func HoldsKey(name string, content []byte, whole bool) bool {
	name = text.FoldFile(name)
	copied(name, func(original string) bool { name = original; return false })
	switch {
	case !strings.HasSuffix(name, ".pem") && !strings.HasSuffix(name, ".key") && strings.HasPrefix(name, "id_"):
		return bytes.Contains(content, []byte("PRIVATE KEY")) || bytes.Contains(content, []byte("PuTTY-User-Key-File"))
	case !whole:
		return true
	case strings.HasSuffix(name, "npmrc"):
		return !plainSettings(content)
	}
	return !publicPEM(content)
}

// publicPEM reports whether a text is made of blocks that everyone may read, of
// which there is at least one. What stands between blocks is taken for remarks
// only as long as it cannot be a key without its frame.
func publicPEM(text []byte) bool {
	blocks := 0
	inside := ""
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if inside != "" {
			if line == "-----END "+inside+"-----" {
				inside = ""
			} else if strings.Contains(line, "-----") {
				return false
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "-----BEGIN "); ok {
			kind, ok := strings.CutSuffix(rest, "-----")
			if !ok || !publicKind(kind) {
				return false
			}
			inside = kind
			blocks++
			continue
		}
		if strings.Contains(line, "-----") || strings.Contains(strings.ToUpper(strings.ReplaceAll(line, "-", " ")), "PRIVATE KEY") || maybeCoded(line) {
			return false
		}
	}
	return blocks > 0 && inside == ""
}

func publicKind(kind string) bool {
	return slices.Contains([]string{"CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE", "X509 CRL", "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST", "PUBLIC KEY", "RSA PUBLIC KEY",
		"EC PUBLIC KEY", "DH PARAMETERS", "EC PARAMETERS", "PKCS7", "PGP PUBLIC KEY BLOCK"}, kind)
}

// maybeCoded finds lines that look like bare base64 or hexadecimal. A remark
// such as the fingerprint of a certificate has blanks or colons in it.
func maybeCoded(line string) bool {
	if len(line) < 32 || strings.ContainsAny(line, " \t:") || strings.Trim(line, "=-_") == "" {
		return false
	}
	for _, c := range []byte(line) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+/=-_", rune(c)) {
			return false
		}
	}
	return true
}

// plainSettings reports whether an .npmrc has nothing but settings that name no
// account: comments, and name = value with names that say how npm works.
func plainSettings(text []byte) bool {
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-@:[]") != "" || strings.Contains(value, "@") && strings.Contains(value, "://") {
			return false
		}
		if slices.ContainsFunc([]string{"auth", "pass", "token", "secret", "user", "email", "cert", "key", "otp"}, func(word string) bool { return strings.Contains(name, word) }) {
			return false
		}
	}
	return true
}
