import { counted } from '../../counted.js'

const number = counted('es')

export const mirrors = {
  head: 'Quién sigue a quién',
  here: 'Este almacén',
  picture: 'Imagen de los espejos',
  table: 'Los espejos en una tabla',
  summary: (sources, targets) => `Este almacén en el centro; orígenes: ${sources}, copias: ${targets}. La tabla dice lo mismo.`,
  count: number({ one: '# espejo.', other: '# espejos.' }),
  bad: number({ one: '# necesita atención.', other: '# necesitan atención.' }),
  none: 'Este almacén no copia a ningún otro, y ninguno lo copia.',
  hidden: 'Las replicaciones del propio CouchDB se muestran a un administrador del servidor.',
  unknown: '–',
  pending: number({ one: '# cambio de retraso', other: '# cambios de retraso' }),
  states: { live: 'en directo', complete: 'completo', copying: 'copia', behind: 'atrasado', waiting: 'espera', interrupted: 'interrumpido', failed: 'fallido', stopped: 'detenido', unknown: 'desconocido' },
  roles: { target: 'copiado de', source: 'copiado a' },
  by: { mirror: 'tilecouch mirror', edge: 'edge', export: 'exportación continua', couchdb: 'CouchDB' },
  parts: { all: 'todo', current: 'solo el presente', since: time => `desde ${time}` },
  columns: { other: 'Otro almacén', state: 'Estado', lag: 'Retraso', rate: 'Velocidad', copied: 'Copiados', refused: 'Rechazados', failed: 'Fallidos', success: 'Último éxito', part: 'Por, parte', host: 'Máquina' },
  make: {
    head: 'Hacer un espejo',
    lead: 'Ejecute esto donde esté instalado tilecouch. Las contraseñas se piden, o vienen del entorno: no deben estar en la línea.',
    other: 'Dirección del otro almacén',
    direction: 'Dirección de la copia',
    to: 'Este almacén en el otro',
    from: 'El otro en este almacén',
    layer: 'Capa',
    all: 'Todas las capas',
    live: 'Seguir cada cambio'
  }
}
