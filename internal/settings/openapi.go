package settings

import "time"

// OpenAPI is one OpenAPI document whose operations are tools. A project file has
// no say in any: a document says which hosts are called and what they are sent.
type OpenAPI struct {
	Document string `yaml:"document" doc:"The OpenAPI document (3.0, 3.1 or Swagger 2.0): an address, a file, or the text itself if it has several lines. A relative file lies beside the configuration file. One at an address is kept in the state directory and used from there."`
	BaseURL  string `yaml:"base_url" doc:"Where the API is, instead of the servers that the document names."`

	Variables  map[string]string `yaml:"variables" doc:"Values of the variables in the addresses of servers."`
	Operations []string          `yaml:"operations" doc:"The operations that become tools, by operationId or by the name of the tool. * stands for any characters, and ! before a pattern leaves out what it matches. Empty: all. An operation has to match each of the four lists."`
	Tags       []string          `yaml:"tags" doc:"The same by tags."`
	Methods    []string          `yaml:"methods" doc:"The same by methods, such as get."`
	Paths      []string          `yaml:"paths" doc:"The same by paths, such as /repos/*."`

	Hosts     []string               `yaml:"hosts" doc:"The hosts that calls of this toolbox reach, in the words of grant.hosts. Nothing else reaches them by this, and this toolbox reaches no other: grant.hosts is not asked. Empty: none."`
	Auth      map[string]OpenAPIAuth `yaml:"auth" doc:"Credentials, by the name of the security scheme in the document."`
	AuthHosts []string               `yaml:"auth_hosts" doc:"Hosts that are sent credentials, with their ports, besides the one that the API is at."`
	Headers   map[string]string      `yaml:"headers" doc:"Headers that are sent with every request. No secrets: those go under auth."`

	Names   string            `yaml:"names" enum:"qualified,bare" doc:"What its tools are called: qualified is name__tool, bare is as the document calls them, unless another tool is called so."`
	Effects map[string]string `yaml:"effects" doc:"What its tools may do, by name or pattern, such as search_*: reads,network. It is said instead of what follows from the method."`
	Expose  string            `yaml:"expose" enum:"full,search" doc:"search: its tools are not in the list that models are shown, and are found by search_tools. It has no say where a client shows all tools anyway."`
	Save    bool              `yaml:"save" doc:"Tools that answer with a file get an argument to write it to a granted directory. They then declare to write."`
	Pins    string            `yaml:"pins" enum:"first,approve,off" doc:"Operations are pinned. first: as they are first seen; approve: a person approves those too; off: the document may change unseen."`
	Refresh time.Duration     `yaml:"refresh" min:"0s" doc:"A document at an address that was fetched longer ago than this is asked for again by a program that runs. 0: once a day. 3650d is as good as never."`
	Timeout time.Duration     `yaml:"timeout" max:"1h" doc:"How long one answer may take. 0: one minute."`

	Disabled bool `yaml:"disabled" doc:"Leave it out."`
}

// OpenAPIAuth says how a security scheme is satisfied.
type OpenAPIAuth struct {
	Secret   string `yaml:"secret" doc:"The name of the secret in the vault: the key, the token, the password, or the secret of the client. It also has to be granted, under vault.grants.NAME."`
	User     string `yaml:"user" doc:"The user of basic. Empty: the secret is user:password."`
	Flow     string `yaml:"flow" enum:"client_credentials,code" doc:"How a token is got for a scheme of OAuth 2 or OpenID Connect. code: a person logs in, by toolcrib openapi login NAME; the token is kept in the vault and renewed. client_credentials: the program logs in for itself, with client_id and secret."`
	ClientID string `yaml:"client_id" doc:"The client that the authorization server knows. With flow: code it may be empty where the server registers clients."`
	TokenURL string `yaml:"token_url" doc:"Where tokens are asked for. Empty: where the document says, if that is at the host of the API."`

	AuthorizationURL string `yaml:"authorization_url" doc:"The page where a person logs in. Empty: the one of the document, if it is at the host of the API or of token_url."`
	OpenIDURL        string `yaml:"openid_url" doc:"The discovery document of an OpenID Connect issuer, which says where one logs in. Empty: the one of the document, if it is at the host of the API."`

	Scopes []string `yaml:"scopes" doc:"What the token is asked to be good for."`
	Type   string   `yaml:"type" enum:"apiKey,basic,bearer" doc:"For a scheme that the document does not have: it is sent with every request."`
	In     string   `yaml:"in" enum:"header,query,cookie" doc:"Where an apiKey of that kind is put."`
	Name   string   `yaml:"name" doc:"What it is called there."`
}

// ExposeSearch has models search for tools.
const ExposeSearch = exposeSearch
