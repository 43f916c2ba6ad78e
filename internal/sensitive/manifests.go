package sensitive

// IsOthersCode reports whether a directory of this name holds code that was
// installed or copied from elsewhere.
func IsOthersCode(name string) bool {
	switch name {
	case "node_modules", "vendor", "third_party", ".git", ".venv", "site-packages":
		return true
	}
	return false
}
