import js from '@eslint/js'
import globals from 'globals'
import importX from 'eslint-plugin-import-x'

// The folder says where code runs. These zones are docs/architecture.md in executable form:
// core imports nothing of the project, client and loader only core, server loader and core.
const zone = (target, allowed) => ({
  target: `./${target}`,
  from: ['core', 'client', 'loader', 'server', 'bench', 'test', 'attachments', '_design', 'views']
    .filter(folder => folder !== target && !allowed.includes(folder))
    .map(folder => `./${folder}`)
})

const designGlobals = Object.fromEntries(
  ['emit', 'send', 'start', 'getRow', 'provides', 'registerType', 'toJSON', 'isArray', 'log', 'sum', 'require']
    .map(name => [name, 'readonly']))

export default [
  { ignores: ['views/**/reduce.js', 'node_modules/', 'build/', 'data/', 'coverage/', 'bench/out/'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    plugins: { 'import-x': importX },
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: { ...globals.node } },
    rules: {
      'no-unused-vars': ['error', { args: 'after-used', ignoreRestSiblings: true, caughtErrors: 'none' }],
      'no-shadow': 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      semi: ['error', 'never'],
      'max-lines': ['error', { max: 280, skipBlankLines: true }],
      'import-x/no-unresolved': 'off',
      'import-x/no-restricted-paths': ['error', {
        zones: [
          zone('core', []),
          zone('client', ['core']),
          zone('loader', ['core']),
          zone('server', ['core', 'loader']),
          zone('bench', ['core', 'loader', 'server', 'client'])
        ]
      }]
    }
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: globals.node } },
  { // what both the browser and Node run may use only what both have
    files: ['core/**/*.js'],
    languageOptions: { globals: { ...globals['shared-node-browser'] } },
    rules: { 'no-restricted-globals': ['error', 'Buffer', 'process', 'window', 'document'], 'no-restricted-imports': ['error', { patterns: ['node:*'] }] }
  },
  {
    files: ['client/**/*.js', 'attachments/**/*.js'],
    languageOptions: { globals: { ...globals.browser, L: 'readonly' } }
  },
  {
    files: ['test/**/*.js'],
    languageOptions: { globals: { ...globals.mocha, ...globals.node } }
  },
  { // CouchDB's JavaScript: ES5, one anonymous function expression a file
    files: ['_design/**/*.js', 'views/**/*.js'],
    languageOptions: { ecmaVersion: 5, sourceType: 'script', globals: designGlobals },
    rules: { 'no-var': 'off', 'prefer-const': 'off', 'no-unused-expressions': 'off', strict: 'off', 'max-lines': ['error', 160] }
  }
]
