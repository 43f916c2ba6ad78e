package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/position"
)

// The part of the protocol that is spoken here.

type documentID struct {
	URI string `json:"uri"`
}

type documentItem struct {
	URI      string `json:"uri"`
	Language string `json:"languageId"`
	Version  int    `json:"version"`
	Text     string `json:"text"`
}

type versionedID struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type documentPosition struct {
	Document documentID        `json:"textDocument"`
	Position position.Position `json:"position"`
}

// location is a Location or a LocationLink.
type location struct {
	URI             string          `json:"uri"`
	Range           position.Range  `json:"range"`
	TargetURI       string          `json:"targetUri"`
	TargetRange     position.Range  `json:"targetRange"`
	TargetSelection *position.Range `json:"targetSelectionRange"`
}

func (l location) where() (uri string, r position.Range) {
	switch {
	case l.TargetURI == "":
		return l.URI, l.Range
	case l.TargetSelection != nil:
		return l.TargetURI, *l.TargetSelection
	}
	return l.TargetURI, l.TargetRange
}

// locations reads one location, a list of them, or null.
func locations(text json.RawMessage) ([]location, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var list []location
	if text[0] != '[' {
		list = make([]location, 1)
		return list, json.Unmarshal(text, &list[0])
	}
	return list, json.Unmarshal(text, &list)
}

type diagnostic struct {
	Range    position.Range  `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}

type publication struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type symbol struct {
	Name     string          `json:"name"`
	Detail   string          `json:"detail"`
	Kind     int             `json:"kind"`
	Range    position.Range  `json:"range"`
	Select   *position.Range `json:"selectionRange"`
	Children []symbol        `json:"children"`

	// Of a flat list, and of symbols of the workspace.
	Location  *location `json:"location"`
	Container string    `json:"containerName"`
}

type textEdit struct {
	Range position.Range `json:"range"`
	Text  string         `json:"newText"`
}

// workspaceEdit has its edits by document, or in a list, which may also make, move and
// remove files.
type workspaceEdit struct {
	Changes   map[string][]textEdit `json:"changes"`
	Documents []struct {
		Kind     string     `json:"kind"` // create, rename, delete; empty: edits
		Document documentID `json:"textDocument"`
		Edits    []textEdit `json:"edits"`
	} `json:"documentChanges"`
}

type capabilities struct {
	Encoding    position.Encoding `json:"positionEncoding"`
	Sync        json.RawMessage   `json:"textDocumentSync"`
	Definition  json.RawMessage   `json:"definitionProvider"`
	References  json.RawMessage   `json:"referencesProvider"`
	Hover       json.RawMessage   `json:"hoverProvider"`
	Symbols     json.RawMessage   `json:"documentSymbolProvider"`
	Workspace   json.RawMessage   `json:"workspaceSymbolProvider"`
	Rename      json.RawMessage   `json:"renameProvider"`
	Diagnostics json.RawMessage   `json:"diagnosticProvider"`
}

// has reads a capability, which is true, false or an object.
func has(capability json.RawMessage) bool {
	text := string(bytes.TrimSpace(capability))
	return text != "" && text != "null" && text != "false"
}

// wantsSave: a server is told of a document that was saved.
func (c *capabilities) wantsSave() bool {
	var sync struct {
		Save json.RawMessage `json:"save"`
	}
	return json.Unmarshal(c.Sync, &sync) == nil && has(sync.Save)
}

// clientCapabilities is what we can be asked for and told.
const clientCapabilities = `{
"general":{"positionEncodings":["utf-8","utf-32","utf-16"]},
"workspace":{"applyEdit":false,"configuration":true,"workspaceFolders":true,
 "workspaceEdit":{"documentChanges":true,"resourceOperations":[],"failureHandling":"abort"},
 "didChangeConfiguration":{"dynamicRegistration":false},"didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},
 "symbol":{"dynamicRegistration":false},"diagnostics":{"refreshSupport":true}},
"textDocument":{"synchronization":{"dynamicRegistration":false,"didSave":true},
 "definition":{"linkSupport":true},"references":{},"hover":{"contentFormat":["markdown","plaintext"]},
 "documentSymbol":{"hierarchicalDocumentSymbolSupport":true},"rename":{"prepareSupport":false},
 "publishDiagnostics":{"versionSupport":true,"relatedInformation":false},"diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":false}},
"window":{"workDoneProgress":true,"showDocument":{"support":false}},
"experimental":{"serverStatusNotification":true}}`

// uriOf is a path as servers have it.
func uriOf(file string) string {
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") {
		file = "/" + file // C:/…
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

var errNoFile = errors.New("it is no file")

// pathOf is the path of a URI. Only files of this machine have one.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0) {
		return "", errNoFile
	}
	file := u.Path
	if runtime.GOOS == "windows" && len(file) > 2 && file[2] == ':' {
		file = file[1:]
	}
	return filepath.Clean(filepath.FromSlash(file)), nil
}
