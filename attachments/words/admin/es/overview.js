import { counted } from '../../counted.js'

const number = counted('es')

export const overview = {
  reading: 'Leyendo el almacén …',
  notRead: why => `No se pueden leer las cifras del almacén: ${why}`,
  noIndex: 'Falta el índice del almacén: no se pueden contar sus teselas.',
  building: number({ one: 'El índice se está creando: # cambio aún no se cuenta.', other: 'El índice se está creando: # cambios aún no se cuentan.' }),
  notBuilt: number({ one: 'El índice está atrasado: # cambio aún no se cuenta.', other: 'El índice está atrasado: # cambios aún no se cuentan.' }),
  figures: {
    head: 'Cifras del almacén',
    layers: 'Capas',
    tiles: 'Teselas',
    versions: 'Versiones',
    images: 'Imágenes',
    disk: 'En disco',
    editions: 'Ediciones',
    expired: 'Teselas caducadas',
    failed: 'Teselas fallidas',
    ofNow: 'visibles ahora',
    ofAll: 'de todos los tiempos',
    imagesNow: size => `${size} visibles ahora`,
    inUse: size => `${size} en uso`,
    withIndex: size => `y ${size} para el índice`,
    newest: date => `la última cargada el ${date}`,
    none: 'ninguna',
    atLeast: tiles => `más de ${tiles}`
  },
  needs: {
    head: 'Lo que requiere atención',
    nothing: 'Nada. Todas las comprobaciones hechas están bien.',
    states: { bad: 'Grave', warning: 'Aviso', unknown: 'Desconocido', ok: 'Bien' },
    fine: number({ one: '# comprobación está bien', other: '# comprobaciones están bien' }),
    unknown: number({ one: '# comprobación no se pudo hacer', other: '# comprobaciones no se pudieron hacer' }),
    checked: (when, who) => `\`tilecouch doctor\` comprobó por última vez ${when}${who ? ` (${who})` : ''}. Lo que ve esta página es de ahora.`,
    never: 'Esta página solo ve una parte. `tilecouch doctor` comprueba también el servidor, sus ajustes, el disco y las réplicas, y escribe aquí lo que encuentra.',
    again: 'Para comprobar de nuevo:',
    copy: line => `Copiar: ${line}`,
    asked: 'CouchDB ha empezado. Mientras dure, aparece en «Índices y compactación».',
    see: { work: 'Ver los trabajos' },
    actions: {
      compact: { name: 'Compactar la base', ask: '¿Compactar la base?', text: 'CouchDB reescribe sus archivos sin las revisiones antiguas. Necesita tanto espacio libre como los datos de un fragmento, y el almacén va más lento mientras tanto.' },
      compactIndex: { name: 'Compactar el índice', ask: '¿Compactar el índice?', text: 'CouchDB reescribe los archivos del índice. Mientras tanto necesita tanto espacio libre como el índice.' },
      cleanUp: { name: 'Quitar archivos de índice viejos', ask: '¿Quitar archivos de índice viejos?', text: 'CouchDB quita los archivos de índices que ya ningún documento de diseño usa.' },
      build: { name: 'Crear el índice', ask: '¿Crear el índice ahora?', text: 'El almacén lee todos los cambios que el índice aún no tiene, algunos miles por segundo; mientras tanto el mapa sigue como está.' }
    }
  },
  own: {
    noAdmins: { found: 'el servidor no tiene administrador', why: 'Cualquiera puede hacerlo todo aquí.', advice: 'Dé un administrador al servidor: [admins] en su archivo ini.' },
    admins: { found: 'el servidor tiene un administrador' },
    noValidation: { found: 'nada comprueba lo que se escribe en el almacén', why: 'Cualquiera puede reemplazar o borrar cada tesela.', advice: 'Despliegue los documentos de diseño.' },
    validation: { found: 'el almacén comprueba lo que se escribe' },
    publicRead: { found: 'cualquiera puede leer' },
    closedRead: { found: 'solo los miembros pueden leer' },
    notDeployed: names => ({ found: `faltan vistas: ${names}`, why: 'La línea de tiempo, los tamaños y las listas necesitan los documentos de diseño de este tilecouch.', advice: 'Despliegue los documentos de diseño.' }),
    upToDate: { found: 'el índice está al día' },
    behind: (changes, isRunning) => ({ found: number({ one: 'al índice le falta # cambio', other: 'al índice le faltan # cambios' })(changes), why: 'El próximo lector espera hasta que esté al día.', advice: isRunning ? 'Espere: se está creando.' : 'Créelo ahora, para que nadie lo espere.' }),
    compact: { found: 'los archivos tienen pocos desechos' },
    waste: (file, slack) => ({ found: `${file} en disco, de los que ${slack} son desechos`, why: 'CouchDB lo compactará por sí mismo. Hasta entonces ocupa sitio en el disco.', advice: 'Compáctelo ahora, si hace falta el espacio.' }),
    conflicts: count => ({ found: number({ one: '# documento tiene conflictos', other: '# documentos tienen conflictos' })(count), why: 'Almacenes que se cargaron por separado se contradicen: la versión que se ve es casual.', advice: 'Resuélvalos.' }),
    interrupted: count => ({ found: number({ one: '# orden se interrumpió en la última semana', other: '# órdenes se interrumpieron en la última semana' })(count), why: 'El trabajo está hecho solo en parte.', advice: 'Vea en Trabajos cómo seguir.' })
  },
  areas: { server: 'Servidor', settings: 'Ajustes', database: 'Base de datos', indexes: 'Índices', access: 'Acceso', disk: 'Disco', clocks: 'Relojes', mirrors: 'Réplicas', layers: 'Capas', gateway: 'Pasarela', work: 'Trabajos' },
  disk: {
    head: 'Disco',
    free: (free, size) => `${free} libres de ${size}`,
    meter: share => `${share} del disco está ocupado`,
    seen: when => `como lo vio \`tilecouch doctor\` ${when}`,
    full: when => `Lleno ${when}`,
    estimate: aMonth => `Una estimación: las cargas del último medio año necesitan unos ${aMonth} al mes, con el índice.`,
    never: 'En el último medio año no se cargó nada: a ese ritmo no se llena.',
    far: 'No se llena en 30 años.',
    unknown: 'No se sabe cuánto sitio queda: CouchDB no lo dice.',
    why: found => `El último informe dice: ${found}`,
    learn: 'Ejecútelo en la máquina del almacén, como un usuario que pueda leer su carpeta:',
    learnEmbedded: 'Ejecútelo en la máquina del almacén, con la carpeta del almacén:'
  },
  running: {
    head: 'Índices y compactación',
    upToDate: 'El índice está al día.',
    pending: number({ one: 'Al índice le falta # cambio.', other: 'Al índice le faltan # cambios.' }),
    building: 'se está creando',
    build: 'Crearlo',
    none: 'No se ejecuta nada más.',
    onlyAdmins: 'Solo un administrador del servidor ve cuánto lleva.',
    tasks: {
      indexer: 'Se crea el índice',
      database_compaction: 'Se compacta la base',
      view_compaction: 'Se compacta el índice',
      replication: 'Replicación',
      others: 'Tarea'
    },
    progress: share => `${share} hecho`
  },
  growth: {
    head: 'Crecimiento',
    lead: 'Por el mes en que terminó una carga, no por la fecha de las teselas. Las teselas traídas una a una de un servidor de origen no pertenecen a ninguna edición y no están incluidas.',
    none: 'Aún no se ha cargado nada.',
    bytes: 'Bytes de imágenes añadidos, por mes',
    versions: 'Versiones añadidas, por mes',
    summary: (what, first, last, most, when) => `${what}, de ${first} a ${last}. Lo máximo: ${most} en ${when}.`,
    table: 'El crecimiento en una tabla',
    month: 'Mes',
    bytesColumn: 'Bytes',
    versionsColumn: 'Versiones',
    editionsColumn: 'Ediciones'
  },
  tiles: {
    head: 'Teselas que caducan o fallaron',
    expired: 'Caducadas',
    within: number({ one: 'Caducan en un día', other: 'Caducan en # días' }),
    refresh: 'Traer de nuevo las teselas caducadas:',
    remove: 'Quitar las teselas caducadas:',
    noneExpired: 'Ninguna tesela caduca en los próximos días.',
    failed: 'Fallidas',
    noneFailed: 'Ninguna tesela falló.',
    failedIn: 'Órdenes con teselas fallidas',
    what: 'Orden',
    layer: 'Capa',
    when: 'Cuándo',
    count: 'Teselas fallidas',
    load: 'load'
  },
  layers: {
    head: 'Capas',
    none: 'Aún no hay capas. Para cargar una:',
    picture: 'Imagen',
    layer: 'Capa',
    tiles: 'Teselas',
    versions: 'Versiones',
    bytes: 'Imágenes',
    last: 'Edición más reciente',
    all: number({ one: 'Mostrar # capa', other: 'Mostrar las # capas' })
  }
}
