package linux

// here is the architecture that this is built for.
func here() arch { return amd64() }
