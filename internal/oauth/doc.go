// Package oauth gets the tokens that a remote MCP server or an HTTP API asks for: it finds
// the authorization server, or is told its endpoints, makes itself known there, sends a person to the
// login page or uses the credentials of a client, and keeps and renews what it
// was given.
//
// The hub (toolbox/mcphub) and the joint of OpenAPI documents (internal/openapis)
// import it. It opens no connection and no
// port by itself: the HTTP client, the listener for the answer of the login page
// and the place where tokens are kept are all given to it in [Needs].
//
// Its one invariant: a token is given out for the server and the resource it was
// issued for, and a credential is shown to the issuer it belongs to, and to
// nobody else, whatever a server, a page or a redirect says.
//
// It is written on the standard library. The OAuth packages of the official SDK
// were the first choice and fall short in what matters here: a renewal does not
// name the resource, nothing is kept over a restart, an error can carry the whole
// answer of the token endpoint, and metadata that is refused leads to the next
// guess and not to an error. The tests use them as the other side.
package oauth
