package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// tokenCache keeps the tokens that client credentials were changed for, in memory only.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[string]cachedToken
}

type cachedToken struct {
	value   string
	until   time.Time
	madeFor [sha256.Size]byte // the client's secret: a new one needs a new token
}

// forget drops the tokens of an API that no longer takes them.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens = nil
}

// token gives an access token, from the cache while it lasts.
func (b *Box) token(ctx context.Context, env handles, scheme, secret string) (string, error) {
	c := b.cfg.Auth[scheme]
	sum := sha256.Sum256([]byte(secret))
	b.tokens.mu.Lock()
	t, ok := b.tokens.tokens[scheme]
	b.tokens.mu.Unlock()
	if ok && t.madeFor == sum && b.needs.Now().Before(t.until) {
		return t.value, nil
	}
	address, err := b.tokenURL(scheme)
	if err != nil {
		return "", err
	}
	value, lasts, err := b.fetchToken(ctx, env, address, c, secret)
	if err != nil {
		return "", err
	}
	b.tokens.mu.Lock()
	defer b.tokens.mu.Unlock()
	if b.tokens.tokens == nil {
		b.tokens.tokens = map[string]cachedToken{}
	}
	b.tokens.tokens[scheme] = cachedToken{value, b.needs.Now().Add(lasts), sum}
	return value, nil
}

// tokenURL is where tokens are asked for. The document alone cannot say that a client's secret
// goes to another host.
func (b *Box) tokenURL(scheme string) (string, error) {
	address := b.cfg.Auth[scheme].TokenURL
	if address == "" {
		address = b.schemes[scheme].TokenURL
		if address == "" {
			return "", fmt.Errorf("the document does not say where tokens for %s come from: set token_url", scheme)
		}
		if !b.home[hostOf(address)] {
			return "", fmt.Errorf("the document has tokens for %s asked for at %s, which is not the host of the API: set token_url if you mean that", scheme, text.Clip(text.ShowLine(hostOf(address)), 100))
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !private(u) {
		return "", fmt.Errorf("the address where tokens for %s come from has to begin with https://", scheme)
	}
	return address, nil
}

// fetchToken changes client credentials for a token.
func (b *Box) fetchToken(ctx context.Context, env handles, address string, c Credential, secret string) (string, time.Duration, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(c.Scopes) > 0 {
		form.Set("scope", strings.Join(c.Scopes, " "))
	}
	ctx, cancel := context.WithTimeout(ctx, min(b.cfg.Timeout, 30*time.Second))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, errors.New("the address of the token endpoint cannot be used")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(secret))
	client := *env.web
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return "", 0, unreachable(ctx, req, err, b.cfg.Timeout)
	}
	defer func() { _ = resp.Body.Close() }() // nothing more is wanted of it
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", 0, errors.New("the answer of the token endpoint broke off")
	}
	var answer struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
		TokenType   string  `json:"token_type"`
		Error       string  `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // what it lacks is told below
	if resp.StatusCode != http.StatusOK || answer.AccessToken == "" {
		why := text.Clip(text.ShowLine(answer.Error), 100)
		return "", 0, fmt.Errorf("the token endpoint %s gave no token: status %d %s", req.URL.Hostname(), resp.StatusCode, hide(why, []string{secret}))
	}
	if strings.ContainsAny(answer.AccessToken, "\r\n\x00") || answer.TokenType != "" && !strings.EqualFold(answer.TokenType, "bearer") {
		return "", 0, errors.New("the token endpoint gave a token of a kind that cannot be used")
	}
	// A token is renewed before it ends; one without an end is kept for five minutes.
	lasts := 5 * time.Minute
	if answer.ExpiresIn > 0 && answer.ExpiresIn < 1e7 {
		lasts = time.Duration(answer.ExpiresIn*0.9) * time.Second
	}
	return answer.AccessToken, lasts, nil
}
