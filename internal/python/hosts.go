package python

import (
	"github.com/toolcrib/toolcrib/internal/nodehost"
	"github.com/toolcrib/toolcrib/internal/pyhost"
)

// pythonHost gives the path of the host for Python.
func (h *Hosts) pythonHost() (string, error) { return h.keep("host.py", []byte(pyhost.Source())) }

// nodeHost gives the path of the host for Node.js.
func (h *Hosts) nodeHost() (string, error) { return h.keep("host.mjs", []byte(nodehost.Source())) }
