package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/serve/httpapi/oidc"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Issuer lets people in by the tokens of an OpenID Connect issuer.
type Issuer struct {
	Verifier *oidc.Verifier
	URL      string  // of the issuer
	Resource string  // the address of our own that clients know; empty: the one they used
	Person   string  // the claim that says who calls
	Claim    string  // the claim with scopes or groups
	Entries  []Entry // the first that a token has counts
	ID       string  // differs if anything above does: who came in by other settings is not known any more
}

// Entry is what those are who have a scope, or are in a group.
type Entry struct {
	Has    string // "*": everybody
	Holder Holder // without the person
}

// maxPerson bounds the name of a person: a longer one would be cut where it is
// kept, and two people could become one.
const maxPerson = 200

// errScope is a token that is good, but for nothing here.
var errScope = errors.New("it is good for nothing here")

// claims is what a token says, once its issuer was found to have said it.
type claims interface {
	Text(name string) (string, bool)
	Words(name string) []string
	True(name string) bool
}

// admit checks a token and says who has it, and until when.
func (i *Issuer) admit(ctx context.Context, token string) (Holder, time.Time, error) {
	said, err := i.Verifier.Verify(ctx, token)
	if err != nil {
		return Holder{}, time.Time{}, err
	}
	h, err := i.holder(said)
	if err != nil {
		return Holder{}, time.Time{}, err
	}
	return h, said.Expires, nil
}

// holder says who a token is of, and what they may do here.
func (i *Issuer) holder(said claims) (Holder, error) {
	person, ok := said.Text(i.Person)
	switch {
	case !ok || strings.TrimSpace(person) == "":
		return Holder{}, fmt.Errorf("it does not say who has it: the claim %s is missing", i.Person)
	case len(person) > maxPerson || !utf8.ValidString(person) || strings.ContainsFunc(person, func(r rune) bool { return !unicode.IsPrint(r) || text.Invisible(r) }):
		return Holder{}, fmt.Errorf("the claim %s is no name: it is too long, or has letters that cannot be seen", i.Person)
	case i.Person == "email" && !said.True("email_verified"):
		// Where people type in their own address, they could type in somebody else's.
		return Holder{}, errors.New("it does not say that its e-mail address was verified (email_verified: true); an issuer that never says so needs another claim as serve.oidc.person, such as sub")
	}
	has := said.Words(i.Claim)
	if i.Claim == "scope" && len(has) == 0 {
		has = said.Words("scp") // as some issuers call it
	}
	for _, e := range i.Entries {
		if e.Has == "*" || slices.Contains(has, e.Has) {
			h := e.Holder
			// Prefixed, so that nobody takes the place of a person of this machine.
			h.Caller.Subject, h.issuer = "oidc:"+person, i.ID
			return h, nil
		}
	}
	return Holder{}, fmt.Errorf("%w: the claim %s has none of %s", errScope, i.Claim, strings.Join(i.wanted(), ", "))
}

// wanted lists the scopes or groups that are good for something.
func (i *Issuer) wanted() (list []string) {
	for _, e := range i.Entries {
		if e.Has != "*" {
			list = append(list, e.Has)
		}
	}
	return list
}

// refuse tells a client why its token does not count, and where it gets one.
func (i *Issuer) refuse(w http.ResponseWriter, r *http.Request, err error) {
	DropBody(w)
	at := base(r) + metadataPath + "/mcp"
	if i.Resource != "" {
		at = metadataOf(i.Resource)
	}
	challenge := fmt.Sprintf("Bearer resource_metadata=%q", headerWords(at))
	status, code := http.StatusUnauthorized, ""
	message := "a token is needed, as the header Authorization: Bearer TOKEN: one of " + i.URL + ", or one that 'toolcrib token new NAME' made"
	switch {
	case errors.Is(err, oidc.ErrIssuer):
		w.Header().Set("Retry-After", "20")
		Fail(w, http.StatusServiceUnavailable, oidc.ErrIssuer.Error()+": try again later; 'toolcrib doctor' says why") // strangers hear it, too
		return
	case errors.Is(err, errScope):
		status, code, message = http.StatusForbidden, "insufficient_scope", "the token is not taken: "+err.Error()
	case err != nil:
		code, message = "invalid_token", "the token is not taken: "+err.Error()
	}
	if code != "" {
		challenge += fmt.Sprintf(", error=%q, error_description=%q", code, headerWords(message))
	}
	if scopes := i.wanted(); status == http.StatusForbidden && i.Claim == "scope" && len(scopes) > 0 {
		challenge += fmt.Sprintf(", scope=%q", headerWords(strings.Join(scopes, " ")))
	}
	w.Header().Set("WWW-Authenticate", challenge)
	Fail(w, status, message)
}

// headerWords leaves out what cannot stand between quotes in a header.
func headerWords(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}

// metadataPath is where clients ask who issues the tokens of a resource (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadataOf is that place for a resource: before its path.
func metadataOf(resource string) string {
	scheme, rest, _ := strings.Cut(resource, "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + metadataPath + strings.TrimRight("/"+path, "/")
}

// base is the address that a client used, as far as we can know.
func base(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// describe tells clients where they get tokens.
func (a *API) describe(w http.ResponseWriter, r *http.Request) {
	i := a.cfg.Access().Issuer
	if i == nil {
		Fail(w, http.StatusNotFound, "there is no issuer of tokens: serve.oidc is not set")
		return
	}
	resource := i.Resource
	if resource == "" {
		resource = base(r) + "/mcp"
	}
	// At the place that a challenge names, and where clients look by themselves.
	announced, err := url.Parse(metadataOf(resource))
	if err != nil || !slices.Contains([]string{metadataPath, metadataPath + "/mcp", announced.Path}, r.URL.Path) {
		Fail(w, http.StatusNotFound, "there is nothing at this path, or not by this method")
		return
	}
	said := map[string]any{
		"resource": resource, "authorization_servers": []string{i.URL},
		"bearer_methods_supported": []string{"header"}, "resource_name": "Toolcrib",
	}
	if scopes := i.wanted(); i.Claim == "scope" && len(scopes) > 0 {
		said["scopes_supported"] = scopes
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(said) // who asked has gone, if this fails
}
