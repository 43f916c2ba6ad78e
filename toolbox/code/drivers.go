package code

import _ "embed" // the drivers

//go:embed drivers/python.py
var pythonDriver string

//go:embed drivers/node.cjs
var nodeDriver string

//go:embed drivers/shell.sh
var shellDriver string

// driver is the program that an interpreter runs: it reads commands, runs cells and writes frames.
type driver struct {
	text string
	json bool // it is greeted with an object
}

func driverOf(language string) (driver, bool) {
	switch language {
	case "python":
		return driver{pythonDriver, true}, true
	case "javascript", "typescript":
		return driver{nodeDriver, true}, true
	case "shell":
		return driver{shellDriver, false}, true
	}
	return driver{}, false
}
