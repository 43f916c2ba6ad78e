package spec

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Addressing says where the operations of a document are.
type Addressing struct {
	Base      string            // used instead of what the document says; empty: as the document says
	Variables map[string]string // values of server variables, by name
}

// servers gives the address that operations begin with: that of the first server that can
// be used.
func (d *Document) servers(list []any, a Addressing) (string, error) {
	if a.Base != "" {
		return baseURL(a.Base, nil)
	}
	var first error
	for _, v := range list[:min(len(list), maxList)] {
		o, ok := v.(*Object)
		if !ok {
			continue
		}
		address, err := fillVariables(o, a.Variables)
		if err == nil {
			if address, err = baseURL(address, d.src.URL); err == nil {
				return address, nil
			}
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return "", first
	}
	return baseURL("/", d.src.URL)
}

// legacyServer is what Swagger 2.0 says in three places.
func (d *Document) legacyServer(root *Object, schemes []any, a Addressing) (string, error) {
	if a.Base != "" {
		return baseURL(a.Base, nil)
	}
	host, base := root.text("host"), root.text("basePath")
	if schemes == nil {
		schemes = root.list("schemes")
	}
	scheme := "https"
	if len(schemes) > 0 && !slices.Contains(schemes, any("https")) {
		scheme = textOf(schemes[0])
	}
	if host == "" {
		if d.src.URL == nil {
			return "", errors.New("the document does not say at which host the API is: set base_url")
		}
		host = d.src.URL.Host
		if len(schemes) == 0 {
			scheme = d.src.URL.Scheme
		}
	}
	return baseURL(scheme+"://"+host+"/"+strings.TrimPrefix(base, "/"), nil)
}

// fillVariables puts values in for the {variables} of a server's address.
func fillVariables(o *Object, given map[string]string) (string, error) {
	address := o.text("url")
	if len(address) > 4096 {
		return "", errors.New("the address of the server is longer than 4096 bytes")
	}
	vars := o.object("variables")
	var b strings.Builder
	for {
		i := strings.IndexByte(address, '{')
		if i < 0 {
			break
		}
		j := strings.IndexByte(address[i:], '}')
		if j < 0 {
			break
		}
		name := address[i+1 : i+j]
		v := vars.object(name)
		value, ok := given[name]
		enum := v.list("enum")
		if !ok {
			if value = v.text("default"); value == "" && len(enum) > 0 {
				value = textOf(enum[0])
			}
			if value == "" && v == nil {
				return "", fmt.Errorf("the address of the server has the variable %s without a default: set base_url or its value", quoted(name))
			}
		} else if len(enum) > 0 && !slices.ContainsFunc(enum, func(e any) bool { return textOf(e) == value }) {
			return "", fmt.Errorf("the server variable %s cannot be %s: the document lists other values", quoted(name), quoted(value))
		}
		b.WriteString(address[:i])
		b.WriteString(value)
		address = address[i+j+1:]
	}
	b.WriteString(address)
	return b.String(), nil
}

// CheckBase checks an address that a person gave to begin with; empty is none.
func CheckBase(address string) error {
	if address == "" {
		return nil
	}
	_, err := baseURL(address, nil)
	return err
}

// baseURL checks an address and gives it without a slash at its end.
func baseURL(address string, from *url.URL) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", fmt.Errorf("the address %s of the server cannot be read", quoted(address))
	}
	if !u.IsAbs() {
		switch {
		case u.Host != "" && from == nil:
			u.Scheme = "https" // //host/path
		case from == nil:
			return "", fmt.Errorf("the address %s of the server is relative, and the document did not come from a URL: set base_url", quoted(address))
		default:
			u = from.ResolveReference(u)
		}
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("the server %s is not reached by http or https", quoted(address))
	case u.Host == "" || u.Opaque != "":
		return "", fmt.Errorf("the address %s of the server names no host", quoted(address))
	case u.User != nil:
		return "", fmt.Errorf("the address of the server at %s has a user name in it: credentials are set by the name of a secret", quoted(u.Host))
	}
	u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = "", "", "", false
	return strings.TrimRight(u.String(), "/"), nil
}
