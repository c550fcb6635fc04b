// One tile on the page: a box with at most one image, or two while one fades into the other.

/**
 * Decodes an image, so that it is ready to be painted. Its object URL is revoked at once.
 * @returns {Promise<HTMLImageElement>}
 */
export async function decodeImage (blob) {
  const image = document.createElement('img')
  image.alt = ''
  image.decoding = 'sync' // it is painted in the frame in which it is inserted
  const url = URL.createObjectURL(blob)
  image.src = url
  try {
    await image.decode()
  } finally {
    URL.revokeObjectURL(url)
  }
  return image
}

export class TileView {
  /** @type {HTMLImageElement | null} */
  #image = null
  /** @type {Animation | undefined} */
  #fade

  constructor () {
    this.el = document.createElement('div')
    this.el.classList.add('tilecouch-tile')
    this.el.style.overflow = 'hidden' // of an ancestor's image only a part is shown
    this.el.setAttribute('role', 'presentation')
  }

  /**
   * @param {HTMLImageElement | null} image decoded; null for nothing
   * @param {{up: number, dx: number, dy: number} | null} place
   * @param {number} fade milliseconds
   */
  show (image, place, fade) {
    this.#fade?.finish()
    const before = this.#image
    this.#image = image
    if (image && place) {
      const size = `${100 * 2 ** place.up}%`
      const [left, top] = [`${-100 * place.dx}%`, `${-100 * place.dy}%`]
      Object.assign(image.style, { position: 'absolute', width: size, height: size, left, top })
      this.el.append(image)
    }
    if (!before) return
    if (!fade || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      before.remove()
      return
    }
    // with plus-lighter both images together are as opaque as one: the background does not shine through
    for (const part of [before, image]) if (part) part.style.mixBlendMode = 'plus-lighter'
    this.el.style.isolation = 'isolate'
    image?.animate({ opacity: [0, 1] }, { duration: fade })
    this.#fade = before.animate({ opacity: [1, 0] }, { duration: fade })
    this.#fade.onfinish = () => {
      before.remove()
      if (image) image.style.mixBlendMode = ''
    }
  }

  mark (failed) {
    this.el.classList.toggle('tilecouch-failed', failed)
  }

  /** @param {boolean} isFromDevice its image is on the device */
  note (isFromDevice) {
    this.el.classList.toggle('tilecouch-on-device', isFromDevice)
  }
}
