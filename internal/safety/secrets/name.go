package secrets

import "strings"

// strength is how much a name says about the value beside it.
type strength uint8

const (
	nameNone   strength = iota
	nameMaybe           // key, auth: only a value that looks random is a secret
	nameSecret          // token, api_key: a value that is not a word is one
	namePass            // password: nearly any value is one
)

// nameWords gives the words in names of secrets, and what they tell.
func nameWords() map[string]strength {
	out := map[string]strength{}
	for s, list := range map[strength]string{
		namePass: `password passwd passphrase pwd passwort kennwort contrasena pass passcode psw pword pw requirepass masterauth storepass keypass psk
			pswd psswd paswd pasword pssword psword pswrd psswrd paswrd passwrd motdepasse senha wachtwoord haslo heslo parola mdp`,
		nameSecret: `secret token apikey api_key api-key api.key accesskey access_key access-key secretkey secret_key secret-key
			private_key private-key privatekey presharedkey preshared_key auth_key authkey auth-key encryption_key encryptionkey
			encryption-key signing_key signingkey signing-key master_key masterkey service_key servicekey account_key accountkey
			app_key appkey application_key applicationkey subscription_key subscription-key subscriptionkey consumer_key consumerkey
			storage_key deploy_key license_key licensekey admin_key adminkey sas_key hmac_key client_key server_key write_key read_key
			unseal_key session_key sessionkey security_key rest_key secure_key ssh_key host_key user_key userkey crypto_key cipher_key
			credential authorization x-auth jwt authtoken webhook dsn authcode secret_id aeskey aes_key oauth_signature dockerconfigjson dockercfg`,
		nameMaybe: `key auth salt cred creds cookie session access pat pkey authentication api`,
	} {
		for word := range strings.FieldsSeq(list) {
			out[word] = s
		}
	}
	for _, word := range [...]string{"secret key", "api key", "access key", "encryption key", "signing key"} {
		out[word] = nameSecret
	}
	out["pass phrase"], out["mot de passe"] = namePass, namePass
	return out
}

// lexicon is what names and values are judged by.
type lexicon struct {
	tails        map[string]bool // behind a word: it is about a secret, and none
	heads        map[string]bool // before key, token and the like: it is public
	placeholders *words          // what a value that stands for another has in it
	tells        *words          // what the name of a secret has in it
	// passHeads are those of heads that count before password as well.
	passHeads map[string]bool
}

func newLexicon() *lexicon {
	set := func(list string) map[string]bool {
		out := map[string]bool{}
		for word := range strings.FieldsSeq(list) {
			out[word] = true
		}
		return out
	}
	return &lexicon{
		tails: set(`type types url urls uri name names file files filename path paths dir endpoint field fields length len size count counts
			limit limits expiry expires expiration expired ttl format header headers prefix suffix label labels placeholder hint policy version
			class alg algorithm regex regexp pattern manager provider service store board input error errors invalid required require requires
			valid validation validator check confirm confirmation reset forgot strength prompt message msg title desc description help icon link
			page form screen view button column index issuer audience scope scopes time date period age hash hashed digest sha sha1 sha256 md5
			fingerprint checksum hasher hashers validators backend backends hashing encoder encoding algo generator factory handler helper util utils cache id ids ref refs arn selector template spec specs magic
			mode status state enabled disabled lifetime source callback parser usage var config configuration setting settings option options
			param params arg args flag flags schema model table pair pairs map list set lists frame frames up down press code stroke word words
			chain ring space point points off on only property properties attribute attr method function func request response info
			location position pos offset start end begin range kind level score weight budget cost price balance address contract symbol supply
			holder owner role roles rule rules group groups exchange introspection revocation replacement signing verification rotation
			missing mismatch empty exists found changed updated created deleted text tooltip caption aria autocomplete`),
		heads: set(`public pub publishable primary foreign sort cache partition range hot page next prev previous continuation sync
			eos bos pad unk mask cls sep special stop lookup object map dict row group order column item idempotency partial react short
			arrow by dedupe dedup candidate unique natural index device verify expected forgot reset confirm invalid missing wrong bad empty
			cancellation cancel request no is has show hide with without this that any another storage registry translation trans i18n locale
			message msg label css html dom event state query param params header cursor pagination start end first last component
			resource property attribute meta metadata image file asset data row version build site host known join hash sub super
			semantic color theme design input output special additional added vocab word char syntax lexer parser begin close open eof`),
		passHeads: set(`forgot reset no is has show hide invalid wrong`),
		tells:     newWords([]string{"key", "token", "secret", "pass", "auth", "cred", "private", "api", "access", "bearer", "pwd", "pat", "crumb", "unseal"}),
		placeholders: newWords([]string{
			"example",
			"my_password", "mypassword", "my-password", "my_secret", "mysecret", "my-secret", "mytoken", "my_token", "my-token", "my_api", "my-api",
			"placeholder", "changeme", "change_me", "change-me", "changethis", "replaceme", "replace_me", "replace-me", "replace_with", "your_", "your-", "yours",
			"yourpass", "yourtoken", "yoursecret", "yourapi", "yourkey", "youraccess", "yourown", "insert_", "insert-", "enter_", "todo", "fixme",
			"dummy", "redacted", "removed", "masked", "hidden", "censored", "xxxx", "0000000000", "undefined", "process.env", "os.environ", "getenv", "env.", "env[", "secrets.", "config.", "configuration.",
			"vault:", "ssm:", "keyring:", "not_set", "notset", "unset", "not-used", "notused", "sample", "foobar", "lorem", "_here", "-here", "%(", "<%", "...", "***", "…", "•", "%s", "%v", "%d", "[redacted]",
			"/run/secrets", "secretkeyref", "valuefrom", "put_", "some_", "some-", "the_", "null",
			"{{", "${", "#{", "$(", // told apart by their places in this list
		}),
	}
}

// firstMyWord is the place of the first word with my in the list of sham.
const firstMyWord = 1

// placeholder reports whether a text only stands for a value.
func (l *lexicon) placeholder(s string) bool {
	if s == "" {
		return true
	}
	if len(s) >= 40 {
		if m := compositionOf(s); m.bits >= 4.4 && m.digit > 2 && m.other > 3 && !m.space && strings.Count(s, "{") < 2 {
			return false // nobody writes a placeholder like this
		}
	}
	switch c := s[0]; c {
	case '$', '<', '{', '[', '(', '&', '|', '@', '*':
		return c != '$' || !strings.HasPrefix(s, "$2") && !strings.HasPrefix(s, "$6$") && !strings.HasPrefix(s, "$1$")
	case '%':
		return len(s) < 3 || !hexDigit(s[1]) || !hexDigit(s[2]) || s[len(s)-1] == '%'
	}
	if strings.HasPrefix(s, "__") {
		return true
	}
	sham := false
	l.placeholders.each(s, func(word, end int) bool {
		switch word {
		case 0:
			sham = exampleWord(s)
		case firstMyWord, firstMyWord + 1, firstMyWord + 2, firstMyWord + 3, firstMyWord + 4, firstMyWord + 5, firstMyWord + 6, firstMyWord + 7, firstMyWord + 8, firstMyWord + 9, firstMyWord + 10:
			sham = compositionOf(s).digit < 3 && (end == len(l.placeholders.list[word]) || !letter(s[end-len(l.placeholders.list[word])-1]))
		case len(l.placeholders.list) - 1, len(l.placeholders.list) - 2, len(l.placeholders.list) - 3, len(l.placeholders.list) - 4:
			sham = template(s[end-2:])
		default:
			sham = true
		}
		return !sham
	})
	return sham
}

// template: what the text begins with is filled in later.
func template(s string) bool {
	end := "}"
	switch s[:2] {
	case "{{":
		end = "}}"
	case "$(":
		end = ")"
	}
	n := strings.Index(s[2:], end)
	return n > 0 && (end == ")" || !strings.ContainsAny(s[2:2+n], "()[]{}<>#"))
}

// exampleWord: it says that it is an example, at its end or in a text that has not the form of
// a key in every other way.
func exampleWord(s string) bool {
	m := compositionOf(s)
	return documented(s) || !strings.Contains(s, "EXAMPLE") || len(s) < 20 || m.digit < 1 || m.bits < 3
}

// ident is an identifier around a word in a name.
type ident struct {
	from, to    int // all of it
	begin, end  int // the word
	camel, glue bool
	apart       bool // the word ends a part of the name
}

const identReach = 48

func identByte(c byte) bool { return wordByte(c) || c == '-' || c == '.' }

func identAround(text string, begin, end int) ident {
	id := ident{from: begin, to: end, begin: begin, end: end}
	id.from = beginOf(text, begin, identReach, identByte)
	if id.from > 0 && text[id.from-1] == '\\' && id.from < begin && strings.IndexByte("nrt", text[id.from]) >= 0 {
		id.from++ // the letter belongs to an escape
	}
	for id.to < len(text) && id.to-end < identReach && (wordByte(text[id.to]) || (text[id.to] == '-' || text[id.to] == '.') && id.to+1 < len(text) && wordByte(text[id.to+1])) {
		id.to++
	}
	if begin > id.from && letter(text[begin-1]) {
		id.camel = upper(text[begin]) && !upper(text[begin-1])
		id.glue = !id.camel
	}
	id.apart = end >= id.to || !letter(text[end]) || upper(text[end]) && !upper(text[end-1])
	return id
}

// rate says what a name with this word in it tells.
func (l *lexicon) rate(text string, id ident, word string, s strength) strength {
	tail := text[id.end:id.to]
	if !id.apart {
		if lower(tail[0]) != 's' || len(tail) > 1 && letter(tail[1]) {
			return nameNone
		}
		tail = tail[1:]
	}
	if id.glue {
		switch word {
		case "pass", "pw":
			if !accountBefore(text[id.from:id.begin]) {
				return nameNone
			}
		case "psw", "pword", "psk", "mdp", "senha", "haslo", "heslo", "parola", "api", "pkey", "authentication", "salt", "auth", "cred", "creds", "key", "access", "pat", "jwt", "cookie", "session", "dsn", "webhook":
			return nameNone
		}
	}
	switch word {
	case "pw", "pass", "psw", "psk":
		if tail != "" && strings.Trim(tail, "_-.0123456789") != "" || id.begin > id.from && !id.camel && strings.IndexByte("_-.", text[id.begin-1]) < 0 && !accountBefore(text[id.from:id.begin]) {
			return nameNone
		}
	}
	var low [identReach]byte
	more := false
	for tail != "" {
		var part []byte
		if part, tail = segment(tail, &low); len(part) == 0 {
			continue
		}
		if l.tails[string(part)] {
			return nameNone
		}
		switch string(part) {
		case "value", "prod", "production", "live", "test", "dev", "staging", "env":
		default:
			more = true
		}
	}
	if s == nameMaybe && more {
		return nameNone
	}
	last := lastSegment(text[id.from:id.begin], &low)
	if len(last) > 0 && l.heads[string(last)] && (s != namePass && word != "secret" || l.passHeads[string(last)]) {
		switch string(last) {
		case "dict", "map", "any", "another", "this", "that", "object", "known", "item", "data":
			return min(s, nameMaybe) // a value that looks random is a secret all the same
		}
		return nameNone
	}
	return s
}

// accountBefore: what stands before pass or pw names what the password is for,
// so that it is not the end of a word such as bypass.
func accountBefore(name string) bool {
	for _, word := range [...]string{"db", "sql", "user", "usr", "mail", "smtp", "root", "admin", "ftp", "redis", "mongo", "ssh", "ldap", "database", "proxy", "wifi", "login", "account", "store", "bind", "postgres", "oracle", "http", "auth"} {
		if n := len(name) - len(word); n >= 0 && strings.EqualFold(name[n:], word) {
			return true
		}
	}
	return false
}

// segment cuts the first part off a name, in lower case; it is empty for what
// stands between two, and for numbers.
func segment(name string, low *[identReach]byte) (part []byte, rest string) {
	n, letters := 0, false
	for n < len(name) && n < len(low) && (letter(name[n]) || digit(name[n])) && (n == 0 || !upper(name[n]) || upper(name[n-1])) {
		low[n] = lower(name[n])
		letters = letters || letter(name[n])
		n++
	}
	if n == 0 {
		return nil, name[1:]
	}
	if !letters {
		return nil, name[n:]
	}
	return low[:n], name[n:]
}

// lastSegment gives the part that a name ends with.
func lastSegment(name string, low *[identReach]byte) []byte {
	end := len(name)
	for end > 0 && !letter(name[end-1]) {
		end--
	}
	from := end
	for from > 0 && end-from < len(low) && (letter(name[from-1]) || digit(name[from-1])) {
		from--
		if upper(name[from]) && (from == 0 || !upper(name[from-1])) {
			break
		}
	}
	for i := from; i < end; i++ {
		low[i-from] = lower(name[i])
	}
	return low[:end-from]
}
