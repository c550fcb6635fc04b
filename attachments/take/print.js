// Prints an image: it is put into the page for as long as that takes, and the page around it is left out.
import { element } from '../../client/timeline/dom.js'

/** @param {Blob} blob @param {string} label */
export async function printImage (blob, label) {
  const address = URL.createObjectURL(blob)
  const image = element('img', { class: 'take-print', alt: label, src: address })
  const end = () => {
    document.body.classList.remove('printing')
    image.remove()
    URL.revokeObjectURL(address)
  }
  try {
    await image.decode()
    document.body.append(image)
    document.body.classList.add('printing')
    addEventListener('afterprint', end, { once: true })
    print()
  } catch (error) {
    end()
    throw error
  }
}
