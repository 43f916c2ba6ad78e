package settings

// Serve is the server over HTTP: where it listens, what it is called, and whom it
// lets in. A project file has no say in it.
type Serve struct {
	Listen string   `yaml:"listen" doc:"Address for HTTP. It must name a loopback host, unless remote is set."`
	Remote bool     `yaml:"remote" doc:"Let listen be an address that other machines reach. It needs tls, hosts, and a token or a login from everybody."`
	Hosts  []string `yaml:"hosts" doc:"Names under which clients reach the server besides localhost: that of a reverse proxy, or this machine's on its network, without a port. Requests under any other name, and of web pages from elsewhere, are refused. What X-Forwarded headers say counts for nothing."`
	TLS    ServeTLS `yaml:"tls" doc:"Encryption. Empty: none; then a reverse proxy on this machine does it, or nobody else listens."`
	OIDC   OIDC     `yaml:"oidc" doc:"People who log in at an issuer (OpenID Connect), beside tokens. Clients send the issuer's access token as Authorization: Bearer."`
	Open   bool     `yaml:"open" doc:"Let everybody on this machine call without a token: every account, every program. They may then do what your rules allow unasked, such as reading your granted directories; what has to be approved waits for you, whoever calls."`
}

// ServeTLS names files in PEM form.
type ServeTLS struct {
	Cert string `yaml:"cert" doc:"The file with the certificate, and those that it was signed with. It is read again when it changes."`
	Key  string `yaml:"key" doc:"The file with its private key."`
}

// OIDC is an issuer of tokens and what they are good for.
type OIDC struct {
	Issuer   string      `yaml:"issuer" doc:"The address of the issuer, as its tokens say it. Its keys are found by /.well-known/openid-configuration. Empty: there is none."`
	Audience string      `yaml:"audience" doc:"What the tokens have to be for (aud). Empty: resource."`
	Resource string      `yaml:"resource" doc:"The address of this server as clients know it, such as https://tools.example.com/mcp. Clients are told it by /.well-known/oauth-protected-resource. Empty: the name and the port that they used."`
	Person   string      `yaml:"person" doc:"The claim that says who calls. Whoever can choose its value at the issuer can be anybody here, so that an e-mail address (email) counts only if the token says that it was verified (email_verified)."`
	Claim    string      `yaml:"claim" doc:"The claim with what a token is good for: scope (or scp), or one such as groups or roles."`
	Access   []OIDCEntry `yaml:"access" doc:"What people may use, by their scopes or groups. The first entry counts that a token has; with none, it is refused."`
}

// OIDCEntry is what people may use who have a scope, or are in a group.
type OIDCEntry struct {
	Has          string `yaml:"has" doc:"The scope or the group. *: every token of the issuer that is for us."`
	Profile      string `yaml:"profile" doc:"Which tools exist for them. Empty: those of the profile above."`
	Agent        string `yaml:"agent" doc:"The preset they run under."`
	Organisation string `yaml:"organisation" doc:"The organisation they belong to."`
	Approves     bool   `yaml:"approves" doc:"A client that can ask them may answer for its own calls. Else such calls wait for somebody else."`
	ApprovesFor  string `yaml:"approves_for" enum:"once,session,project,always" doc:"The longest that they may allow things, if approves is set. Unset: session."`
	Watches      bool   `yaml:"watches" doc:"They may read /metrics, which names every tool that was called, and are told by /healthz what is wrong with the settings."`
}

// OIDCToken is what callers are said to be authenticated with who come in by an
// entry.
func OIDCToken(has string) string { return "oidc:" + has }

// SeveralPeople reports whether others than the person of this machine may call.
func (cfg *Config) SeveralPeople() bool { return len(cfg.Tokens) > 0 || cfg.Serve.OIDC.Issuer != "" }

// DefaultServe is the server of a fresh machine.
func DefaultServe() Serve {
	return Serve{Listen: "127.0.0.1:7717", OIDC: OIDC{Person: "sub", Claim: "scope"}}
}
