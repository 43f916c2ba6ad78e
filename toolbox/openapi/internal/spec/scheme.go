package spec

import "strings"

// Scheme is a way to say who calls.
type Scheme struct {
	Type     string // apiKey, http, oauth2 or openIdConnect
	In, Name string // of apiKey: header, query or cookie
	Scheme   string // of http, in lower case: basic or bearer
	TokenURL string // of oauth2, for client credentials

	// Of oauth2, for people who log in: their page, and where the code and a refresh token are changed
	// for a token.
	Authorize, CodeToken, Refresh string
	Discovery                     string // of openIdConnect
}

// Schemes lists the security schemes of a document by name.
func (d *Document) Schemes() map[string]Scheme {
	root := d.root.root.(*Object)
	defs := root.object("components").object("securitySchemes")
	if d.legacy {
		defs = root.object("securityDefinitions")
	}
	out := map[string]Scheme{}
	for _, m := range defs.members() {
		at, err := d.follow(located{d.root, m.Value})
		o, ok := at.value.(*Object)
		if err != nil || !ok {
			continue
		}
		s := Scheme{Type: strings.Clone(o.text("type")), In: strings.Clone(o.text("in")), Name: strings.Clone(o.text("name")), Scheme: strings.Clone(strings.ToLower(o.text("scheme")))}
		if s.Type == "basic" { // Swagger 2.0
			s.Type, s.Scheme = "http", "basic"
		}
		if s.Type == "oauth2" {
			code := o.object("flows").object("authorizationCode")
			s.TokenURL = strings.Clone(o.object("flows").object("clientCredentials").text("tokenUrl"))
			s.Authorize, s.CodeToken, s.Refresh = strings.Clone(code.text("authorizationUrl")), strings.Clone(code.text("tokenUrl")), strings.Clone(code.text("refreshUrl"))
			switch o.text("flow") {
			case "application":
				s.TokenURL = strings.Clone(o.text("tokenUrl"))
			case "accessCode":
				s.Authorize, s.CodeToken = strings.Clone(o.text("authorizationUrl")), strings.Clone(o.text("tokenUrl"))
			}
		}
		if s.Type == "openIdConnect" {
			s.Discovery = strings.Clone(o.text("openIdConnectUrl"))
		}
		out[strings.Clone(m.Key)] = s
	}
	return out
}
