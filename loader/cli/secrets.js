// What every command does about passwords before it begins: reads where they are, and asks for those that addresses lack.
import { askWith, openSecretFiles, useFolder, withPassword } from '../secrets.js'
import { askerOn } from './prompt.js'

const LACKS_PASSWORD = /^https?:\/\/[^/@:]+@/i

/**
 * @param {{passwordFile?: string, data?: string}} options
 * @param {any[]} args of the command: addresses of stores among them
 * @param {{output: import('./output.js').Output, stdin?: any}} context
 * @returns {Promise<any[]>} the arguments, with passwords
 */
export async function withSecrets ({ passwordFile, data = './data' }, args, { output, stdin }) {
  if (passwordFile !== undefined) process.env.COUCHDB_PASSWORD_FILE = passwordFile
  useFolder(data)
  askWith(askerOn({ stdin, stderr: output.stderr }), text => output.note(text))
  for (const file of openSecretFiles()) output.note(`${file} holds a password, and everybody on this machine may read it: chmod 600`)
  const complete = async arg => {
    if (typeof arg === 'string') return LACKS_PASSWORD.test(arg) ? withPassword(arg) : arg
    if (!Array.isArray(arg)) return arg
    const completed = []
    for (const one of arg) completed.push(await complete(one)) // one question after the other
    return completed
  }
  return complete(args)
}
