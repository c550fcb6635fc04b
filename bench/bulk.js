/** @param {{server: string, quick: boolean, log: (text: string) => void}} options @returns {Promise<any>} */
export async function run ({ log }) {
  log('not written yet')
}
