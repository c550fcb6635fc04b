// Names under which the store is asked for. Many a store on loopback can be read without a name, and a page can connect under a name
// of its own that it lets lead here (DNS rebinding): to the browser that is the page's own server.

const LOCAL = /^(localhost|[\w-]+\.localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

/** Whether a server listens for this machine only. @param {string} host */
export const isLoopback = host => /^(127\.|localhost$|::1$)/i.test(host)

/** Whether a Host header is an address or a name that leads to this machine wherever it is looked up. @param {string} [header] none: no browser */
export const isLocalName = header => header === undefined || LOCAL.test(header)
