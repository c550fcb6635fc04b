// Has the browser keep the files of this page (see sw.js), so that it opens without a network.
import { wait } from '../client/source/patience.js'

const LATEST = 5000 // milliseconds after which a map that is still not drawn need not be waited for

/** Why the page cannot open without a network; undefined where it can. Browsers want https, or the machine itself. */
export const obstacle = () => navigator.serviceWorker ? undefined : isSecureContext ? 'blocked' : 'insecure'

/** @param {Promise<any>} drawn what comes before: the map must not wait for its own copy */
export async function keepShell (drawn) {
  if (obstacle()) return
  await Promise.race([drawn, wait(LATEST)])
  try {
    const registration = await navigator.serviceWorker.register('sw.js')
    await registration.update() // browsers look for a new one some time after a visit, when nothing moves any more
  } catch {
    return // next time, then
  }
}
