// Package cli is the command line: one file per subcommand, each a thin layer
// over internal/app. Results go to standard output and nothing else does;
// errors go to standard error as "toolcrib: <code>: <message>", and the exit
// status says which kind it was. Only cmd imports this package.
package cli
