// TODO: {{line}}
// A script of code mode: tools.NAME(args) calls a tool, input has the arguments, log(text) tells what goes on.
// Every call is judged and recorded as if the model had made it.
const text = String(input?.text ?? '')
log('begun')
return { text }
