// Toolcrib's host for tools in JavaScript: node host.mjs serve --file tools.mjs
//
// It speaks MCP on standard input and output (docs/plugins.md) and serves every
// function that the file exports. It needs Node 18 or later and no package.
//
//   1  Streams      the standard output belongs to the protocol
//   2  Words        errors as one sentence, JSON
//   3  Contracts    JSDoc and parameters become schemas
//   4  Tools        what of a file is a tool
//   5  Results
//   6  Server
//   7  Main

import fs from 'node:fs'
import path from 'node:path'
import nodeModule from 'node:module'
import { Console } from 'node:console'
import { AsyncLocalStorage } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'

// ---------------------------------------------------------------------------
// 1  Streams
//
// What a tool prints, and what programs print that it starts, must not get between
// the messages. So the descriptor is kept under another number, and number 1 is
// the standard error from then on. Systems give a new file the lowest free number.
// In a sandbox it may not be opened again, as it belongs to another user: whoever
// starts us there gives it another number from the start (--out), which Node keeps
// from the programs that it starts.

const { register } = nodeModule // not in every Node 18
const realExit = process.reallyExit.bind(process)

function claimOutput(given) {
  if (given !== undefined) return fs.createWriteStream('', { fd: given })
  if (process.platform !== 'win32') {
    try {
      const kept = fs.openSync('/dev/fd/1', fs.constants.O_WRONLY | fs.constants.O_APPEND)
      fs.closeSync(1)
      if (fs.openSync('/dev/fd/2', fs.constants.O_WRONLY | fs.constants.O_APPEND) !== 1) throw new Error('another file took its number')
      return fs.createWriteStream('', { fd: kept })
    } catch (error) {
      logLine(`what programs print that a tool starts may disturb the protocol: ${error.message}`)
    }
  }
  // Elsewhere only what goes through Node is kept apart.
  const stream = process.stdout
  const write = stream.write.bind(stream)
  stream.write = (...args) => process.stderr.write(...args)
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr })
  return { write: (text, done) => write(text, done), on: (...args) => stream.on(...args), end: (done) => write('', done) }
}

// A tool must not end the process for all others.
function refuseToExit() {
  const refuse = (what) => (code) => {
    throw new Failure(`the tool called ${what}(${code ?? ''}), which would end all other calls; it should return or throw`)
  }
  process.exit = refuse('process.exit')
  process.reallyExit = refuse('process.reallyExit')
  process.abort = refuse('process.abort')
}

// ---------------------------------------------------------------------------
// 2  Words

class Failure extends Error {}

// One line, without places in files.
function sentence(error) {
  if (error instanceof Failure) return error.message
  if (error instanceof AggregateError && error.errors.length && !error.message) return sentence(error.errors[0])
  if (!(error instanceof Error)) {
    const text = typeof error === 'string' ? error : inJSON(error)
    return text === undefined || text === '' ? 'the tool failed and did not say why' : oneLine(text)
  }
  const name = String(error.name || 'Error')
  const text = oneLine(String(error.message ?? ''))
  if (!text) return name === 'Error' ? 'the tool failed and did not say why' : name
  return name === 'Error' ? text : `${name}: ${text}`
}

const oneLine = (text) => text.replace(/\s*\n\s*/g, ' ').trim().slice(0, 4000)

function logLine(text) {
  try {
    process.stderr.write(`toolcrib: ${text}\n`)
  } catch { /* nobody listens */ }
}

function logError(where, error) {
  logLine(`${where} failed\n${error instanceof Error ? error.stack : String(error)}`)
}

// inJSON gives undefined for what JSON has nothing for.
function inJSON(value) {
  return JSON.stringify(value, (_, v) => {
    if (typeof v === 'bigint') return Number.isSafeInteger(Number(v)) ? Number(v) : String(v)
    if (v instanceof Map) return Object.fromEntries(v)
    if (v instanceof Set) return [...v]
    if (v instanceof Error) return sentence(v)
    return v
  })
}

// ---------------------------------------------------------------------------
// 3  Contracts

// skipTo gives where one of the ends stands, outside of strings, comments and brackets.
function skipTo(text, at, ends) {
  let depth = 0
  for (; at < text.length; at++) {
    const c = text[at]
    if (depth === 0 && ends.includes(c)) return at
    if (c === '"' || c === "'" || c === '`') {
      for (at++; at < text.length && text[at] !== c; at++) if (text[at] === '\\') at++
    } else if (c === '/' && text[at + 1] === '/') {
      while (at < text.length && text[at] !== '\n') at++
    } else if (c === '/' && text[at + 1] === '*') {
      at = text.indexOf('*/', at + 2)
      if (at < 0) return text.length
      at++
    } else if ('([{'.includes(c)) depth++
    else if (')]}'.includes(c)) depth--
  }
  return text.length
}

function splitList(text) {
  const out = []
  for (let at = 0; at < text.length;) {
    const end = skipTo(text, at, ',')
    const part = text.slice(at, end).replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '').trim()
    if (part) out.push(part)
    at = end + 1
  }
  return out
}

// parametersOf reads the parameters of a function from its text.
function parametersOf(fn) {
  let text = Function.prototype.toString.call(fn).replace(/^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*/, '')
  const bare = /^(?:async\s+)?([\w$]+)\s*=>/.exec(text)
  if (bare) return [readParameter(bare[1])]
  const open = skipTo(text, 0, '(')
  const end = skipTo(text, open + 1, ')')
  return splitList(text.slice(open + 1, end)).map(readParameter)
}

function readParameter(text) {
  const rest = text.startsWith('...')
  if (rest) text = text.slice(3)
  const eq = skipTo(text, 0, '=')
  const name = text.slice(0, eq).trim()
  const value = eq < text.length ? text.slice(eq + 1).trim() : undefined
  if (!name.startsWith('{')) return { name, optional: value !== undefined || rest, value: literal(value), rest }
  const inner = splitList(name.slice(1, name.lastIndexOf('}')))
  return {
    optional: value !== undefined,
    open: inner.some((p) => p.startsWith('...')),
    members: inner.filter((p) => !p.startsWith('...')).map((p) => {
      const at = skipTo(p, 0, '=')
      const renamed = skipTo(p.slice(0, at), 0, ':')
      const init = at < p.length ? p.slice(at + 1).trim() : undefined
      return { name: p.slice(0, Math.min(at, renamed)).trim().replace(/^['"]|['"]$/g, ''), optional: init !== undefined, value: literal(init) }
    }),
  }
}

// literal reads a default value, if it is a plain one.
function literal(text) {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch { /* not as it stands */ }
  const quoted = /^'((?:[^'\\]|\\.)*)'$|^`((?:[^`\\$]|\\.)*)`$/.exec(text)
  if (quoted) {
    try {
      return JSON.parse(`"${(quoted[1] ?? quoted[2]).replace(/\\'/g, "'").replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`)
    } catch { /* an expression */ }
  }
  return undefined
}

// docsOf finds the comments before the functions of a file, by their names.
function docsOf(text) {
  const out = new Map()
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export\s+)?(default\s+)?(?:async\s+)?(?:function\s*\*?\s*([\w$]+)?|(?:const|let|var)\s+([\w$]+)|(?:module\.)?exports\.([\w$]+)|(?:async\s+)?([\w$]+)\s*[(:=])?/g
  for (const m of text.matchAll(comment)) {
    const name = m[3] ?? m[4] ?? m[5] ?? m[6] ?? (m[2] ? 'default' : undefined)
    if (name && !out.has(name)) out.set(name, readDoc(m[1]))
    if (m[2] && !out.has('default')) out.set('default', readDoc(m[1]))
  }
  return out
}

function readDoc(comment) {
  const text = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '')).join('\n').trim()
  // Also within a line: a comment of one line has its tags there.
  const parts = text.split(/(?:^|\s)(?=@(?:param|arg|argument|returns?|description|desc|throws|example|type|see|deprecated|async|since)\b)/)
  const doc = { description: parts[0].startsWith('@') ? '' : parts[0].trim(), params: [] }
  for (const tag of parts) {
    const [, word, body] = /^@(\w+)\s*([\s\S]*)$/.exec(tag) ?? []
    if (word === 'description' || word === 'desc') doc.description = body.trim()
    if (word === 'returns' || word === 'return') doc.returns = typed(body).text
    if (word !== 'param' && word !== 'arg' && word !== 'argument') continue
    const { type, text: rest } = typed(body)
    const named = /^\[([^=\]]+?)\s*(?:=([\s\S]*?))?\](?=\s|$)|^(\S+)/.exec(rest)
    if (!named) continue
    doc.params.push({
      name: (named[1] ?? named[3]).trim(),
      optional: named[1] !== undefined || Boolean(type?.endsWith('=')),
      value: named[2] === undefined ? undefined : literal(named[2].trim()) ?? named[2].trim(),
      type,
      description: rest.slice(named[0].length).replace(/^\s*-?\s*/, '').replace(/\s+/g, ' ').trim(),
    })
  }
  return doc
}

// typed takes the {type} off.
function typed(text) {
  text = text.trim()
  if (!text.startsWith('{')) return { text }
  const end = skipTo(text, 1, '}')
  return { type: text.slice(1, end).trim(), text: text.slice(end + 1).trim() }
}

// schemaOf makes a schema of a type as JSDoc has it. What it does not know is anything.
function schemaOf(type) {
  type = (type ?? '').trim().replace(/^\.\.\.|=$/g, '').trim()
  if (type.startsWith('(') && skipTo(type, 1, ')') === type.length - 1) return schemaOf(type.slice(1, -1))
  const nullable = type.startsWith('?')
  if (nullable || type.startsWith('!')) type = type.slice(1)
  const options = []
  for (let at = 0; at < type.length;) {
    let end = at, angle = 0
    for (; end < type.length && (type[end] !== '|' || angle > 0); end++) {
      if (type[end] === '<') angle++
      if (type[end] === '>') angle--
    }
    options.push(type.slice(at, end).trim())
    at = end + 1
  }
  if (nullable) options.push('null')
  if (options.length > 1) {
    const values = options.map(literal)
    if (values.every((v) => v !== undefined)) return { enum: values }
    return { anyOf: options.map((o) => (literal(o) === undefined || o === 'null' ? schemaOf(o) : { const: literal(o) })) }
  }
  const list = /^(.*)\[\]$/.exec(type) ?? /^(?:Array|ReadonlyArray|Set|Iterable)\.?<(.*)>$/.exec(type)
  if (list) return { type: 'array', items: schemaOf(list[1]) }
  const record = /^(?:Record|Object|Map)\.?<[^,]*,(.*)>$/.exec(type)
  if (record) return { type: 'object', additionalProperties: schemaOf(record[1]) }
  if (type.startsWith('{')) {
    const s = { type: 'object', properties: {}, required: [] }
    for (const part of splitList(type.slice(1, -1).replace(/;/g, ','))) {
      const at = part.indexOf(':')
      if (at < 0) continue
      const key = part.slice(0, at).trim()
      s.properties[key.replace(/\?$/, '')] = schemaOf(part.slice(at + 1))
      if (!key.endsWith('?')) s.required.push(key)
    }
    return s
  }
  switch (type.toLowerCase()) {
    case 'string': case 'number': case 'boolean': case 'object': case 'null': case 'integer': return { type: type.toLowerCase() }
    case 'int': case 'bigint': return { type: 'integer' }
    case 'float': case 'double': return { type: 'number' }
    case 'bool': return { type: 'boolean' }
    case 'array': return { type: 'array' }
  }
  const value = literal(type)
  return value !== undefined && type !== '' ? { const: value } : {}
}

function schemaOfValue(value) {
  if (Array.isArray(value)) return { type: 'array' }
  if (value === null || value === undefined) return {}
  return { type: typeof value }
}

const isContext = (name) => name === 'context' || name === 'ctx' || name === '_context' || name === '_ctx'

// contractOf says what a plain function takes: a schema, and how it is called.
function contractOf(fn, doc) {
  if (/\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(fn))) {
    return { schema: { type: 'object' }, call: (args, context) => fn(args, context) } // it was bound, and nothing is known of it
  }
  const parameters = parametersOf(fn)
  for (const p of parameters.flatMap((p) => p.members ?? [p])) {
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(p.name)) throw new Failure('its parameters cannot be read; give it an input (a JSON Schema)')
  }
  const described = new Map((doc?.params ?? []).map((p) => [p.name, p]))
  const properties = {}, required = []
  const add = (name, parameter, said, rest) => {
    let s = said?.type ? schemaOf(said.type) : schemaOfValue(parameter.value ?? said?.value)
    if (rest && s.type !== 'array') s = { type: 'array', items: s }
    if (said?.description) s.description = said.description
    const value = parameter.value ?? said?.value
    if (value !== undefined && value !== null && fits(value, s)) s.default = value
    properties[name] = s
    if (!parameter.optional && !said?.optional) required.push(name)
  }
  const first = parameters[0]
  const inner = [...described.values()].filter((p) => p.name.includes('.'))
  const asObject = first && (first.members || (parameters.length - (parameters.some((p) => isContext(p.name)) ? 1 : 0) === 1 && inner.length > 0))
  let open = false
  if (asObject) {
    const prefix = inner[0]?.name.split('.')[0]
    const members = first.members ?? []
    const names = new Set([...members.map((m) => m.name), ...inner.map((p) => p.name.slice(p.name.indexOf('.') + 1)).filter((n) => !n.includes('.'))])
    for (const name of names) {
      add(name, members.find((m) => m.name === name) ?? {}, described.get(`${prefix}.${name}`) ?? described.get(name))
    }
    open = Boolean(first.open)
  } else {
    for (const p of parameters) if (p.name && !isContext(p.name)) add(p.name, p, described.get(p.name), p.rest)
  }
  const schema = { type: 'object', properties }
  if (required.length) schema.required = required
  if (!open) schema.additionalProperties = false
  const call = (args, context) => {
    if (asObject) return fn(args, context)
    const values = []
    for (const p of parameters) {
      if (p.rest) values.push(...(args[p.name] ?? []))
      else values.push(isContext(p.name) ? context : args[p.name])
    }
    return fn(...values)
  }
  return { schema, call }
}

// fits holds a value to the parts of a schema that contracts here are made of. What
// else a schema says is for the tool to check.
function fits(value, schema) { return faultsOf(value, schema, '').length === 0 }

function faultsOf(value, schema, at) {
  if (!schema || typeof schema !== 'object') return []
  const where = at || 'the arguments'
  const types = schema.type === undefined ? [] : [].concat(schema.type)
  if (types.length && !types.some((t) => isType(value, t))) return [`${where} must be ${types.map(article).join(' or ')}, not ${article(typeName(value))}`]
  if (schema.enum && !schema.enum.some((v) => inJSON(v) === inJSON(value))) return [`${where} must be one of ${schema.enum.map(inJSON).join(', ')}`]
  if ('const' in schema && inJSON(schema.const) !== inJSON(value)) return [`${where} must be ${inJSON(schema.const)}`]
  if (schema.anyOf && !schema.anyOf.some((s) => faultsOf(value, s, at).length === 0)) return [`${where} fits none of the forms that it may have`]
  const out = []
  if (Array.isArray(value) && schema.items) value.forEach((v, i) => out.push(...faultsOf(v, schema.items, `${at}[${i}]`)))
  if (isObject(value)) {
    const known = schema.properties ?? {}
    const below = (key) => (at ? `${at}.${key}` : key)
    for (const key of schema.required ?? []) if (!Object.hasOwn(value, key)) out.push(`${below(key)} is missing`)
    for (const [key, v] of Object.entries(value)) {
      if (Object.hasOwn(known, key)) out.push(...faultsOf(v, known[key], below(key)))
      else if (schema.additionalProperties === false && !schema.patternProperties) out.push(`${below(key)} is not known; there are: ${Object.keys(known).join(', ') || 'none'}`)
      else if (isObject(schema.additionalProperties)) out.push(...faultsOf(v, schema.additionalProperties, below(key)))
    }
  }
  return out
}

const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v)
const article = (word) => (/^[aeiou]/.test(word) ? `an ${word}` : word === 'null' ? word : `a ${word}`)
const typeName = (v) => (v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v)

function isType(value, type) {
  switch (type) {
    case 'integer': return Number.isInteger(value)
    case 'array': return Array.isArray(value)
    case 'object': return isObject(value)
    case 'null': return value === null
    default: return typeof value === type
  }
}

// ---------------------------------------------------------------------------
// 4  Tools

// givenSchema reads a schema that comes with a tool: JSON Schema, or an object of a
// library that can say itself as one. Check is what that library says of arguments.
function givenSchema(given) {
  const standard = given['~standard']
  const say = given.toJSONSchema ?? given.toJsonSchema
  let schema = given
  if (typeof standard?.jsonSchema?.input === 'function') schema = standard.jsonSchema.input({ target: 'draft-2020-12' })
  else if (typeof say === 'function') schema = say.call(given)
  else if (standard || typeof given.parse === 'function') throw new Failure('its schema cannot be said as JSON Schema: the library has no toJSONSchema')
  schema = JSON.parse(inJSON(schema))
  if (!isObject(schema)) throw new Failure('its schema is no object')
  if (schema.type === undefined) schema = { type: 'object', ...schema }
  if (schema.type !== 'object') throw new Failure('its schema must be one of an object')
  let check
  if (typeof standard?.validate === 'function') {
    check = async (args) => {
      const found = await standard.validate(args)
      if (!found.issues) return found.value
      const path = (p) => (p ?? []).map((k) => (typeof k === 'object' ? k.key : k)).join('.')
      throw new Failure(found.issues.map((i) => (path(i.path) ? `${path(i.path)}: ${i.message}` : i.message)).join('; '))
    }
  } else if (typeof given.parse === 'function') check = (args) => given.parse(args)
  return { schema, check }
}

const isClass = (fn) => /^class\b/.test(Function.prototype.toString.call(fn))
const runOf = (thing) => [thing?.run, thing?.execute, thing?.handler, thing?.invoke, thing?.call].find((f) => typeof f === 'function')
const validName = (name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)

// toolsOf gives the tools among what a file exports, and tells what is left out.
function toolsOf(exported, source, fileName) {
  const tools = new Map(), leftOut = []
  const docs = docsOf(source)
  const add = (name, thing) => {
    try {
      const tool = toolOf(name, thing, docs)
      if (!tool) return
      if (!validName(tool.name)) throw new Failure(`${tool.name} cannot be the name of a tool: take letters, digits, - and _, 64 at most`)
      if (tools.has(tool.name)) throw new Failure('another tool has the same name')
      tools.set(tool.name, tool)
    } catch (error) {
      leftOut.push({ name, error: sentence(error) })
      logLine(`${name} is left out: ${sentence(error)}`)
    }
  }
  const seen = new Set()
  const take = (name, thing) => {
    if (thing === null || thing === undefined || seen.has(thing) || name.startsWith('_')) return
    if (typeof thing === 'object' || typeof thing === 'function') seen.add(thing)
    if (Array.isArray(thing)) return thing.forEach((one) => take(one?.name ?? name, one))
    add(name, thing)
  }
  for (const [name, thing] of Object.entries(exported)) if (name !== 'default' && name !== 'module.exports') take(name, thing)
  const main = exported.default
  if (typeof main === 'function') take(main.name && main.name !== 'default' ? main.name : fileName, main)
  else if (Array.isArray(main) || runOf(main)) take(main.name ?? fileName, main)
  else if (isObject(main)) for (const [name, thing] of Object.entries(main)) take(name, thing)
  return { tools, leftOut }
}

function toolOf(name, thing, docs) {
  const isFunction = typeof thing === 'function'
  const run = isFunction ? thing : isObject(thing) ? runOf(thing) : undefined
  if (!run || isClass(run)) return undefined
  const said = thing
  const doc = docs.get(name) ?? docs.get(run.name) ?? (isFunction && run.name === 'default' ? docs.get('default') : undefined)
  const given = said.input ?? said.inputSchema ?? said.input_schema ?? said.parameters ?? said.schema
  const tool = {
    name: isFunction ? said.toolName ?? name : said.name ?? name,
    title: typeof said.title === 'string' ? said.title : undefined,
    description: String(said.description ?? doc?.description ?? '').trim(),
    annotations: isObject(said.annotations) ? said.annotations : undefined,
  }
  const output = said.output ?? said.outputSchema
  if (output) tool.output = givenSchema(output).schema
  if (given) {
    const { schema, check } = givenSchema(given)
    tool.input = schema
    tool.call = async (args, context) => run.call(thing, check ? await check(args) : args, context)
  } else {
    const contract = contractOf(run, doc)
    tool.input = contract.schema
    tool.call = isFunction ? contract.call : (args, context) => run.call(thing, args, context)
  }
  return tool
}

const describe = (tool) => ({
  name: tool.name, title: tool.title, description: tool.description, inputSchema: tool.input,
  outputSchema: tool.output?.type === 'object' ? tool.output : undefined, annotations: tool.annotations,
})

// importFile reads the file as Node does, and one that has export in it as a module,
// whatever it is called: older versions of Node take .js for CommonJS.
async function importFile(url) {
  try {
    return await import(url)
  } catch (error) {
    if (!(error instanceof SyntaxError) || !url.endsWith('.js') || !/\bexport\b|\bimport\b/.test(error.message)) throw error
    if (typeof register !== 'function') throw new Failure('it is written as a module: call it .mjs')
    const again = `${url}?module`
    const hook = `import { readFile } from 'node:fs/promises'
      export async function load(url, context, next) {
        if (url !== ${JSON.stringify(again)}) return next(url, context)
        return { format: 'module', shortCircuit: true, source: await readFile(new URL(${JSON.stringify(url)})) }
      }`
    register(`data:text/javascript,${encodeURIComponent(hook)}`)
    return await import(again)
  }
}

async function load(file) {
  const full = path.resolve(file)
  if (/\.[mc]?ts$/.test(full) && !process.features.typescript) {
    throw new Failure(`this Node (${process.version}) cannot read TypeScript: take Node 22.18 or later, or a file in JavaScript`)
  }
  const source = fs.readFileSync(full, 'utf8')
  const exported = await importFile(pathToFileURL(full).href)
  const name = path.basename(full).replace(/\.[^.]*$/, '')
  return { name, ...toolsOf(exported, source, name.replace(/[^A-Za-z0-9_-]/g, '_')) }
}

// ---------------------------------------------------------------------------
// 5  Results

async function resultOf(value, promised) {
  if (isObject(value) && typeof value.next === 'function' && (value[Symbol.asyncIterator] ?? value[Symbol.iterator])) value = await collect(value)
  if (typeof value === 'string' && !promised) return { content: [text(value)] }
  if (isObject(value) && Array.isArray(value.content) && value.content.every((c) => isObject(c) && typeof c.type === 'string')) {
    return JSON.parse(inJSON(value)) // a result of the protocol
  }
  if (isBytes(value)) return { content: [picture(value)] }
  const json = inJSON(value)
  if (json === undefined || json === 'null') return { content: [text('')] }
  const data = JSON.parse(json)
  return { content: [text(typeof data === 'string' ? data : json)], structuredContent: isObject(data) ? data : { result: data } }
}

const text = (words) => ({ type: 'text', text: words })
const isBytes = (v) => v instanceof Uint8Array || v instanceof ArrayBuffer

async function collect(many) {
  const all = []
  for await (const one of many) all.push(one)
  return all.every((one) => typeof one === 'string') ? all.join('') : all
}

function picture(bytes) {
  const raw = Buffer.from(bytes)
  const kinds = [['\x89PNG', 'image/png'], ['\xff\xd8\xff', 'image/jpeg'], ['GIF8', 'image/gif']]
  const kind = kinds.find(([magic]) => raw.subarray(0, magic.length).toString('latin1') === magic)
  if (kind) return { type: 'image', data: raw.toString('base64'), mimeType: kind[1] }
  return { type: 'resource', resource: { uri: 'data:application/octet-stream', mimeType: 'application/octet-stream', blob: raw.toString('base64') } }
}

// ---------------------------------------------------------------------------
// 6  Server

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const MOST = 64 << 20 // bytes of one message
const LAST = 1000 // milliseconds that calls have when the other side hangs up

class Server {
  constructor(source, out) {
    this.source = source
    this.out = out
    this.calls = new Map()
    this.running = new AsyncLocalStorage()
    out.on('error', () => realExit(0)) // nobody reads any more
  }

  send(message) { this.out.write(`${JSON.stringify(message)}\n`) }
  answer(id, result) { this.send({ jsonrpc: '2.0', id, result }) }
  refuse(id, code, message) { this.send({ jsonrpc: '2.0', id: id ?? null, error: { code, message } }) }

  take(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return this.refuse(null, -32700, 'The line is not JSON.')
    }
    if (!isObject(message) || message.jsonrpc !== '2.0') return this.refuse(isId(message?.id) ? message.id : null, -32600, 'This is no JSON-RPC 2.0 message.')
    const { id, method } = message
    const params = isObject(message.params) ? message.params : {}
    if (typeof method !== 'string') {
      if (!('result' in message) && !('error' in message)) this.refuse(isId(id) ? id : null, -32600, 'The message has no method.')
      return
    }
    if (id === undefined) {
      if (method === 'notifications/cancelled') this.cancel(params.requestId)
      return
    }
    if (!isId(id)) return this.refuse(null, -32600, 'The id must be a text or a number.')
    switch (method) {
      case 'initialize': return this.answer(id, this.initialize(params))
      case 'ping': return this.answer(id, {})
      case 'tools/list': return this.answer(id, { tools: [...this.source.tools.values()].map(describe) })
      case 'tools/call': return this.call(id, params)
    }
    this.refuse(id, -32601, `There is no method ${method.slice(0, 100)}.`)
  }

  initialize(params) {
    return {
      protocolVersion: VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: this.source.name, version: '1' },
    }
  }

  call(id, params) {
    const tool = this.source.tools.get(params.name)
    if (!tool) return this.refuse(id, -32602, `There is no tool ${String(params.name).slice(0, 100)}. There are: ${[...this.source.tools.keys()].join(', ').slice(0, 500)}.`)
    const args = params.arguments ?? {}
    if (!isObject(args)) return this.refuse(id, -32602, 'The arguments must be an object.')
    if (this.calls.has(id)) return this.refuse(id, -32600, 'A call with this id is running.')
    const call = { id, tool, abort: new AbortController(), token: params._meta?.progressToken, last: -Infinity }
    this.calls.set(id, call)
    this.running.run(call, () => this.run(call, args))
  }

  async run(call, args) {
    let result
    try {
      const faults = faultsOf(args, call.tool.input, '')
      if (faults.length) throw new Failure(faults.join('; '))
      result = await Promise.race([
        (async () => resultOf(await call.tool.call(args, this.context(call)), call.tool.output))(),
        new Promise((_, fail) => { call.fail = fail }),
      ])
    } catch (error) {
      if (!call.abort.signal.aborted && !(error instanceof Failure)) logError(call.tool.name, error)
      result = { content: [text(sentence(error))], isError: true }
    }
    this.finish(call, result)
  }

  finish(call, result) {
    if (this.calls.get(call.id) !== call) return // it was cancelled: nobody waits
    this.calls.delete(call.id)
    this.answer(call.id, result)
    if (this.ended && this.calls.size === 0) this.exit(0)
  }

  // What a tool gets besides its arguments.
  context(call) {
    return {
      signal: call.abort.signal,
      progress: (progress, total, message) => {
        if (call.token === undefined || this.calls.get(call.id) !== call || !(progress > call.last)) return
        call.last = progress
        this.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: call.token, progress, total, message } })
      },
      log: (...words) => console.error(...words),
    }
  }

  cancel(id) {
    const call = this.calls.get(id)
    if (!call) return
    this.calls.delete(id)
    call.abort.abort(new Failure('the call was cancelled'))
  }

  // broke hears what nobody caught: the call it belongs to fails, and no other.
  broke(error) {
    const call = this.running.getStore()
    if (call) {
      logError(call.tool.name, error)
      call.fail?.(new Failure(sentence(error)))
    } else logError('something in the background', error)
  }

  end() {
    this.ended = true
    if (this.calls.size === 0) return this.exit(0)
    setTimeout(() => {
      for (const call of this.calls.values()) call.abort.abort(new Failure('Toolcrib has hung up'))
      setTimeout(() => this.exit(0), 200)
    }, LAST - 200)
  }

  exit(code) { this.out.end(() => realExit(code)) }

  listen(input) {
    let parts = [], size = 0, tooLong = false
    const line = () => {
      const whole = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      if (tooLong) this.refuse(null, -32600, 'The message is too long.')
      else if (whole.trim()) this.take(whole)
      tooLong = false
    }
    input.on('data', (chunk) => {
      for (let at = 0; at < chunk.length;) {
        const end = chunk.indexOf(10, at)
        const piece = chunk.subarray(at, end < 0 ? chunk.length : end)
        if ((size += piece.length) > MOST) {
          parts = []
          tooLong = true
        } else parts.push(piece)
        if (end < 0) break
        line()
        at = end + 1
      }
    })
    input.on('end', () => {
      if (parts.length) line()
      this.end()
    })
    input.on('error', () => this.end())
  }
}

const isId = (id) => typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))

// ---------------------------------------------------------------------------
// 7  Main

async function main([command, flag, file, option, number, ...more]) {
  const given = option === '--out' && /^[3-9]$/.test(number) ? Number(number) : undefined
  if ((command !== 'serve' && command !== 'list') || flag !== '--file' || !file || more.length || (option !== undefined && given === undefined)) {
    process.stderr.write('usage: node host.mjs serve --file FILE [--out DESCRIPTOR]   speak MCP on standard input and output\n       node host.mjs list --file FILE    print the tools of a file, as JSON\n')
    realExit(2)
  }
  const out = claimOutput(given)
  refuseToExit()
  let server
  const broke = (error) => (server ? server.broke(error) : logError('something in the background', error))
  process.on('uncaughtException', broke)
  process.on('unhandledRejection', (error) => logError('a promise that nobody waits for', error))
  let source
  try {
    source = await load(file)
  } catch (error) {
    if (!(error instanceof Failure)) logError(`reading ${path.basename(file)}`, error)
    process.stderr.write(`error: ${path.basename(file)}: ${sentence(error)}\n`)
    if (command === 'list') return out.write(`${JSON.stringify({ error: sentence(error) })}\n`, () => realExit(1))
    return setTimeout(() => realExit(1), 10)
  }
  if (command === 'list') {
    return out.write(`${JSON.stringify({ tools: [...source.tools.values()].map(describe), left_out: source.leftOut })}\n`, () => realExit(0))
  }
  if (source.tools.size === 0) logLine(`${path.basename(file)} exports no function, so that it has no tools`)
  server = new Server(source, out)
  server.listen(process.stdin)
}

main(process.argv.slice(2))
