// How much room the device gives, and whether something fits. In Node there is nobody to ask.

/** Of what `navigator.storage` says. @returns {Promise<{usage?: number, quota?: number, free?: number, persisted?: boolean}>} */
export async function roomOf (storage = globalThis.navigator?.storage) {
  if (!storage?.estimate) return { usage: undefined, quota: undefined, free: undefined, persisted: undefined }
  const [{ usage, quota }, persisted] = await Promise.all([storage.estimate(), storage.persisted?.()])
  const free = usage === undefined || quota === undefined ? undefined : Math.max(0, quota - usage)
  return { usage, quota, free, persisted }
}
