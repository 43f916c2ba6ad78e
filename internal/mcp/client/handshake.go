package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// errLegacy says that a server did not answer as a modern one does.
var errLegacy = errors.New("the server does not speak a version without a handshake")

// probeTime is how long a server may think about the first question of the modern
// era before it is taken for one of the legacy era. Old programs may say nothing
// at all to it; over HTTP everybody answers something, and the time of a login
// counts.
func (s *Session) probeTime(l link) time.Duration {
	if _, program := l.(*sharedLink); program {
		return min(s.config.Handshake/3, 5*time.Second)
	}
	return s.config.Handshake * 2 / 3
}

// discover asks a server what it is. With errLegacy it is none of the modern
// era; any other error is final.
func (s *Session) discover(ctx context.Context, l link) error {
	version := mcp.Modern
	for range 2 { // a version of the server's choice is tried once
		o := requestExtras{version: version, info: s.config.Info}
		params, err := o.params(nil)
		if err != nil {
			return err
		}
		limit, cancel := ctx, context.CancelFunc(func() {})
		if !mcp.IsModern(s.config.Version) {
			limit, cancel = context.WithTimeout(ctx, s.probeTime(l))
		}
		result, err := l.request(limit, nil, &request{method: mcp.MethodDiscover, params: params, version: version, keep: true})
		cancel()
		if err == nil {
			return s.discovered(l, result)
		}
		fault, ok := errors.AsType[*mcp.Error](err)
		switch {
		case ctx.Err() != nil:
			return err
		case ok && fault.Code == mcp.CodeUnsupportedVersion:
			offered := supported(fault.Data)
			if version = newest(offered, true); version == "" {
				if newest(offered, false) != "" {
					return fmt.Errorf("%w: %w", errLegacy, err)
				}
				return fmt.Errorf("the server speaks no version that we speak: %w", err)
			}
		case ok && (fault.Code == mcp.CodeHeaderMismatch || fault.Code == mcp.CodeMissingCapability):
			return err // a modern server, and it will not have us
		case ok, errors.Is(err, context.DeadlineExceeded), errors.Is(err, errAnswer), refusedStatus(err):
			return fmt.Errorf("%w: %w", errLegacy, err)
		default:
			return err
		}
	}
	return fmt.Errorf("the server refuses the version it has offered: %s", version)
}

// discovered reads the answer to discover.
func (s *Session) discovered(l link, result json.RawMessage) error {
	var d struct {
		Versions     []string                   `json:"supportedVersions"`
		Capabilities json.RawMessage            `json:"capabilities"`
		Instructions string                     `json:"instructions"`
		Info         json.RawMessage            `json:"serverInfo"` // of drafts
		Meta         map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(result, &d); err != nil || len(d.Versions) == 0 {
		return errLegacy // some old servers answer everything
	}
	version := newest(d.Versions, true)
	if version == "" {
		if newest(d.Versions, false) != "" {
			return errLegacy
		}
		return fmt.Errorf("the server speaks no version that we speak: %q", word(strings.Join(d.Versions, ",")))
	}
	info := d.Meta[mcp.MetaServer]
	if info == nil {
		info = d.Info
	}
	s.setServer(l, version, d.Capabilities, info, d.Instructions)
	return nil
}

// initialize begins a session of the legacy era.
func (s *Session) initialize(ctx context.Context, l link) error {
	version := mcp.Legacy
	for range 2 { // a version of the server's choice is tried once
		capabilities, info := s.config.Capabilities, s.config.Info
		if capabilities == nil {
			capabilities = json.RawMessage("{}")
		}
		if info == nil {
			info = json.RawMessage(`{"name":"toolcrib","version":"0"}`)
		}
		params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, version, capabilities, info)
		result, err := l.request(ctx, nil, &request{method: mcp.MethodInitialize, params: params, keep: true})
		if err == nil {
			return s.initialized(ctx, l, result)
		}
		fault, ok := errors.AsType[*mcp.Error](err)
		if !ok {
			return err
		}
		other := newest(supported(fault.Data), false)
		if other == "" || other == version {
			return err
		}
		version = other
	}
	return fmt.Errorf("the server refuses the version it has offered: %s", version)
}

// initialized reads the answer to initialize and ends the handshake.
func (s *Session) initialized(ctx context.Context, l link, result json.RawMessage) error {
	var d struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Info         json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions"`
	}
	if err := json.Unmarshal(result, &d); err != nil {
		return fmt.Errorf("%w: reading the answer to initialize: %w", errAnswer, err)
	}
	if !mcp.Known(d.Version) || mcp.IsModern(d.Version) {
		return fmt.Errorf("the server wants version %q, which has no such handshake or is not known", word(d.Version))
	}
	s.setServer(l, d.Version, d.Capabilities, d.Info, d.Instructions)
	if err := l.notify(ctx, mcp.MethodInitialized, nil); err != nil {
		return fmt.Errorf("ending the handshake: %w", err)
	}
	return nil
}

// setServer writes down what the handshake has found.
func (s *Session) setServer(l link, version string, capabilities, info json.RawMessage, instructions string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link, s.version, s.capabilities, s.info, s.instructions = l, version, capabilities, info, instructions
}

// supported reads the versions out of an error.
func supported(data json.RawMessage) []string {
	var d struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	return d.Supported
}

// newest is the newest version of an era that is offered and that we speak.
func newest(offered []string, modern bool) string {
	for _, v := range mcp.Versions() {
		if mcp.IsModern(v) == modern && slices.Contains(offered, v) {
			return v
		}
	}
	return ""
}
