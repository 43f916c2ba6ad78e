package mcp

import "slices"

// Modern is the first version of the protocol without a handshake, sessions
// and requests of servers.
const Modern = "2026-07-28"

// Legacy is the last version with them.
const Legacy = "2025-11-25"

// Versions are those we speak, the newest first.
func Versions() []string {
	return []string{Modern, Legacy, "2025-06-18", "2025-03-26", "2024-11-05"}
}

// Known reports whether we speak a version.
func Known(version string) bool { return slices.Contains(Versions(), version) }

// IsModern reports whether a version is of the era without sessions. Versions
// are dates, so the order of their letters is that of time.
func IsModern(version string) bool { return version >= Modern }

// The keys that the modern era puts into _meta of every request, and of results.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaProgress     = "progressToken"
)

// The methods of both eras.
const (
	MethodInitialize    = "initialize"
	MethodInitialized   = "notifications/initialized"
	MethodDiscover      = "server/discover"
	MethodPing          = "ping"
	MethodToolsList     = "tools/list"
	MethodToolsCall     = "tools/call"
	MethodResourcesList = "resources/list"
	MethodTemplatesList = "resources/templates/list"
	MethodResourcesRead = "resources/read"
	MethodSubscribe     = "resources/subscribe"
	MethodUnsubscribe   = "resources/unsubscribe"
	MethodPromptsList   = "prompts/list"
	MethodPromptsGet    = "prompts/get"
	MethodComplete      = "completion/complete"
	MethodSetLevel      = "logging/setLevel"
	MethodListen        = "subscriptions/listen"
	MethodElicit        = "elicitation/create"
	MethodSample        = "sampling/createMessage"
	MethodRoots         = "roots/list"
	NotifyCancelled     = "notifications/cancelled"
	NotifyProgress      = "notifications/progress"
	NotifyMessage       = "notifications/message"
	NotifyTools         = "notifications/tools/list_changed"
	NotifyPrompts       = "notifications/prompts/list_changed"
	NotifyResources     = "notifications/resources/list_changed"
	NotifyResource      = "notifications/resources/updated"
	NotifyElicited      = "notifications/elicitation/complete"
	NotifyRoots         = "notifications/roots/list_changed"
	NotifySubscribed    = "notifications/subscriptions/acknowledged"
)

// The kinds of results of the modern era.
const (
	ResultComplete = "complete"
	ResultInput    = "input_required"
)

// HeaderLetters may stand in the name of an HTTP header.
const HeaderLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~"
