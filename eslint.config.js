import js from '@eslint/js'
import globals from 'globals'

// The folder says where code runs. These zones hold it to that: core imports nothing of the project, client and loader
// only core, the viewer client and core, server loader and core.
// _design/ and views/ hold no modules
const folders = ['core', 'client', 'loader', 'server', 'bench', 'test', 'attachments']

const inBrowsers = {
  core: { group: ['node:*'], message: 'core/ runs in browsers too' },
  client: {
    regex: '^(?!leaflet$|maplibre-gl$|ol/|spark-md5$|\\.)',
    message: 'client/ runs in browsers: of packages it may import spark-md5 and the map libraries alone'
  },
  attachments: {
    regex: '^(?!(leaflet|pouchdb-browser|gifenc|htm|lean-qr|mediabunny|preact(\\/hooks)?|maplibre-gl(\\/.*)?)$|\\.)',
    message: 'the viewer runs in browsers: of packages it may import only those that loader/couchapp/bundle.js expects'
  }
}

// core/couch is the only place that builds requests for many documents: the others use its methods (docs, bulk, page,
// changes, view).
const DOCUMENTS = '_(all_docs|bulk_get|bulk_docs|changes)'
const ownRequests = [
  `Property[key.name="path"] Literal[value=/^${DOCUMENTS}/]`,
  `Property[key.name="path"] TemplateElement[value.raw=/${DOCUMENTS}/]`,
  'CallExpression[callee.property.name="queries"] > Literal[value="_all_docs"]'
].map(selector => ({
  selector, message: 'use the client of core/couch: docs, leaves, bulk, page, pages, ranges, changes'
}))

// these parts of the client know no map library: leaflet/, maplibre/ and openlayers/ join them to one
const withoutMaps = ['engine', 'timeline', 'source', 'offline', 'mirror']
const noMaps = {
  regex: '^(?!spark-md5$|\\.)|/(leaflet|maplibre|openlayers)/', message: `client/{${withoutMaps}}/ know no map library`
}

function zone (folder, allowed, ...more) {
  const forbidden = folders.filter(other => other !== folder && !allowed.includes(other)).join('|')
  const message = `${folder}/ may import ${allowed.length ? `only ${allowed.join(', ')}` : 'nothing of the project'}`
  const syntax = [{ selector: `ImportExpression > Literal[value=/^(\\.\\.\\/)+(${forbidden})\\//]`, message },
    ...(['core', 'loader', 'server'].includes(folder) ? ownRequests : [])]
  return {
    files: [`${folder}/**/*.js`],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: `^(\\.\\./)+(${forbidden})/`, message },
          ...(inBrowsers[folder] ? [inBrowsers[folder]] : []), ...more] }
      ],
      'no-restricted-syntax': ['error', ...syntax]
    }
  }
}

// Inside loader/, a folder imports only folders of its own line and of later ones.
const loaderOrder = [['cli'], ['check', 'export', 'maintain', 'backup', 'load', 'couchapp'], ['store', 'formats']]
const against = names => ({
  regex: `^(\\.\\./)+(${names.join('|')})/`,
  message: `the folders of loader/ are in order: ${loaderOrder.join('; ')}`
})

// A promise that is kept for several callers has to be forgotten when it rejects: shared() and sharePromise() of core
// do that.
const keptPromise = {
  create (context) {
    const asynchronous = new Set() // names of the functions of this file
    const kept = []
    const nameOf = ({ id, key, parent }) => (id ?? key ?? parent.id ?? parent.key)?.name
    function keep (node) {
      if (node?.type === 'LogicalExpression') return keep(node.right)
      if (node?.type === 'AssignmentExpression') return keep(node.right)
      if (node?.type !== 'Identifier') return kept.push(node)
      const [definition] = context.sourceCode.getScope(node)
        .references.find(({ identifier }) => identifier === node)?.resolved?.defs ?? []
      if (definition?.node.init) keep(definition.node.init)
    }
    // a method of another object, such as `map.get`, may have the name of one of this file
    const isOwn = ({ type, object }) => type === 'Identifier' || object?.type === 'ThisExpression'
    const isAsynchronous = callee => callee.async ||
      (isOwn(callee) && asynchronous.has((callee.property ?? callee).name))
    const isPromise = node => node?.type === 'ImportExpression' ||
      (node?.type === 'CallExpression' && isAsynchronous(node.callee))
    return {
      ':function[async=true][generator=false]' (node) { asynchronous.add(nameOf(node)) },
      'AssignmentExpression[operator="??="]' (node) {
        if (!/clos/i.test(context.sourceCode.getText(node.left))) keep(node.right) // an end is final
      },
      'CallExpression[callee.property.name="set"][arguments.length=2]' (node) { keep(node.arguments[1]) },
      'Program:exit' () {
        for (const node of kept.filter(isPromise)) {
          context.report(
            { node, message: 'a promise that is kept: use shared() or sharePromise() of core/promises.js' }
          )
        }
      }
    }
  }
}

const designGlobals = Object.fromEntries(
  ['emit', 'send', 'start', 'getRow', 'provides', 'registerType',
    'toJSON', 'isArray', 'log', 'sum', 'require', 'styleAt', 'qgisLayers',
    'recordTypes', 'isValue', 'recordPatterns', 'textPatterns', 'valueTypes', 'isShallow', 'layerRules', 'editionRules',
    'styleRules', 'manifestRules', 'blockRules', 'removedRules',
    'limitsRules', 'workRules', 'activityRules', 'tokenRules',
    'storeRules', 'isTime', 'NUMBER', 'SPRITE', 'GLYPHS', 'READS', 'WORDS', 'STYLE', 'RESERVED_NAMES', 'LAYER_KINDS',
    'wrongTimes', 'wrongRuns']
    .map(name => [name, 'readonly']))

export default [
  { ignores: ['views/**/reduce.js', 'node_modules/', 'build/', 'data/', 'dist/', 'coverage/', 'bench/out/'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: { ...globals.node } },
    rules: {
      'no-unused-vars': ['error', { args: 'after-used', ignoreRestSiblings: true, caughtErrors: 'none' }],
      'no-shadow': 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      semi: ['error', 'never'],
      'max-len': ['error', { code: 120 }],
      'max-lines': ['error', { max: 400, skipBlankLines: true }]
    }
  },
  {
    files: ['{core,loader,server,client,attachments,bench,docs,test}/**/*.js'],
    rules: { 'no-nested-ternary': 'error' }
  },
  {
    files: ['{core,loader,server,client,attachments}/**/*.js'],
    plugins: { tilecouch: { rules: { 'kept-promise': keptPromise } } },
    rules: { 'tilecouch/kept-promise': 'error' }
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: globals.node } },
  { // what both the browser and Node run may use only what both have
    files: ['core/**/*.js'],
    languageOptions: { globals: { ...globals['shared-node-browser'] } },
    rules: { 'no-restricted-globals': ['error', 'Buffer', 'process', 'window', 'document'] }
  },
  { // design functions have them inside
    files: [
      'core/addresses.js', 'core/kinds.js', 'core/style.js', 'core/qgis.js', 'core/rules.js', 'core/record-rules.js',
      'core/tile-rules.js'
    ],
    rules: { 'no-var': 'off' }
  },
  {
    files: ['client/**/*.js', 'attachments/**/*.js'],
    languageOptions: { globals: { ...globals.browser, L: 'readonly' } }
  },
  { // a script of a page: what it declares is for the page
    files: ['examples/**/*.js'],
    languageOptions: { sourceType: 'script', globals: { ...globals.browser } },
    rules: { 'no-unused-vars': ['error', { vars: 'local' }] }
  },
  {
    files: ['test/**/*.js'],
    languageOptions: { globals: { ...globals.mocha, ...globals.node } }
  },
  { // CouchDB's JavaScript: ES5, one anonymous function expression a file
    files: ['_design/**/*.js', 'views/**/*.js'],
    languageOptions: { ecmaVersion: 5, sourceType: 'script', globals: designGlobals },
    rules: {
      'no-var': 'off',
      'prefer-const': 'off',
      'no-unused-expressions': 'off',
      strict: 'off',
      'max-lines': ['error', { max: 280, skipBlankLines: true }]
    }
  },
  zone('core', []),
  zone('client', ['core']),
  { ...zone('client', ['core'], noMaps), files: withoutMaps.map(part => `client/${part}/*.js`) },
  // runs in Node: it makes the package
  { files: ['client/build.js'], rules: { 'no-restricted-imports': 'off', 'no-restricted-syntax': 'off' } },
  zone('attachments', ['core', 'client']),
  zone('loader', ['core']),
  ...loaderOrder.map((names, level) => ({
    ...zone('loader', ['core'], against(loaderOrder.slice(0, level).flat())),
    files: names.map(name => `loader/${name}/**/*.js`)
  })),
  zone('server', ['core', 'loader']),
  zone('bench', ['core', 'loader', 'server', 'client']),
  { files: ['core/couch/*.js'], rules: { 'no-restricted-syntax': 'off' } } // the client itself
]
