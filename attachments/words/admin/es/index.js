// Spanish: the control room.
import { access } from './access.js'
import { activity } from './activity.js'
import { editions } from './editions.js'
import { layers } from './layers.js'
import { mirrors } from './mirrors.js'
import { overview } from './overview.js'
import { work } from './work.js'

export const es = {
  title: 'Sala de control',
  map: 'Mapa',
  live: 'En directo',
  again: 'Intentar de nuevo',
  failed: why => `No ha funcionado: ${why}`,
  away: why => `No está al día: ${why}`,
  more: 'Mostrar más',
  cancel: 'Cancelar',
  typeName: name => `Escriba ${name} para confirmar`,
  notRecorded: why => `Hecho, pero no anotado en Actividad: ${why}`,
  sections: {
    overview: 'Resumen',
    layers: 'Capas',
    editions: 'Ediciones',
    work: 'Trabajos',
    mirrors: 'Réplicas',
    access: 'Acceso',
    activity: 'Actividad'
  },
  signIn: {
    head: 'Iniciar sesión',
    lead: 'Nombre y contraseña de un usuario de CouchDB que puede escribir en este almacén.',
    name: 'Nombre',
    password: 'Contraseña',
    button: 'Iniciar sesión',
    out: 'Cerrar sesión',
    wrong: 'El nombre o la contraseña no son correctos.',
    notAllowed: name => `${name} no puede administrar este almacén. Inicie sesión con otro nombre.`,
    ended: 'La sesión ha terminado. Inicie sesión para continuar: no se pierde nada de esta página.'
  },
  overview,
  layers,
  editions,
  work,
  mirrors,
  access,
  activity
}
