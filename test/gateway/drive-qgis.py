# Drives QGIS without a window: reads one task as JSON from the standard input and answers JSON.
import json
import sys
import time
from urllib.parse import quote

from qgis.PyQt.QtCore import QDateTime, QSize, Qt
from qgis.PyQt.QtWidgets import QListWidget
from qgis.core import (
    QgsApplication, QgsCoordinateReferenceSystem, QgsDateTimeRange, QgsLayerDefinition, QgsMapRendererParallelJob,
    QgsMapSettings, QgsProject, QgsRasterLayer, QgsRectangle, QgsSettings
)

task = json.load(sys.stdin)
app = QgsApplication([], 'connections' in task)
app.initQgis()
project = QgsProject.instance()
tree = project.layerTreeRoot()


def moment(text):
    return QDateTime.fromString(text, Qt.ISODateWithMs)


def describe(layer):
    metadata = layer.metadata()
    return {
        'name': layer.name(), 'source': layer.source(), 'valid': layer.isValid(), 'crs': layer.crs().authid(),
        'abstract': metadata.abstract(), 'rights': metadata.rights(),
        'period': period_of(layer.temporalProperties())
    }


def period_of(temporal):
    if not temporal or not temporal.isActive():
        return None
    period = temporal.fixedTemporalRange()
    return [period.begin().toString(Qt.ISODate), period.end().toString(Qt.ISODateWithMs)]


def shape(node):
    if hasattr(node, 'layerId'):
        return {'layer': node.name(), 'ticked': node.itemVisibilityChecked()}
    return {
        'group': node.name(), 'ticked': node.itemVisibilityChecked(), 'choice': node.isMutuallyExclusive(),
        'of': [shape(child) for child in node.children()]
    }


def draw(wanted):
    settings = QgsMapSettings()
    settings.setLayers([layer for layer in tree.layerOrder() if layer in tree.checkedLayers()])
    settings.setDestinationCrs(QgsCoordinateReferenceSystem(wanted.get('crs', 'EPSG:3857')))
    settings.setExtent(QgsRectangle(*wanted['extent']))
    settings.setOutputSize(QSize(*wanted['size']))
    settings.setBackgroundColor(Qt.white)
    if wanted.get('time'):
        begin, end = wanted['time']
        settings.setIsTemporal(True)
        settings.setTemporalRange(QgsDateTimeRange(moment(begin), moment(end), True, begin == end))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    colors = [image.pixelColor(x, y) for x, y in wanted['at']]
    return [[color.red(), color.green(), color.blue()] for color in colors]


def connections(files):
    from qgis.gui import QgsManageConnectionsDialog as Dialog
    kinds = {'xyz': Dialog.XyzTiles, 'vector-tiles': Dialog.VectorTile, 'wmts': Dialog.WMS}
    for kind, file in files.items():
        dialog = Dialog(None, Dialog.Import, kinds[kind], file)
        dialog.findChild(QListWidget).selectAll()
        dialog.doExportImport()
    settings = QgsSettings()
    keys = [key for key in settings.allKeys() if key.startswith('qgis/connections-')]
    return {key: settings.value(key) for key in keys if settings.value(key)}


answer = {}
if 'qlr' in task:
    started = time.time()
    answer['loaded'] = QgsLayerDefinition.loadLayerDefinition(task['qlr'], project, tree)[0]
    answer['seconds'] = time.time() - started
if 'wmts' in task:
    source = '&'.join(f'{key}={quote(str(value), safe="")}' for key, value in task['wmts'].items())
    project.addMapLayer(QgsRasterLayer(source, 'wmts', 'wms'))
answer['tree'] = [shape(child) for child in tree.children()]
answer['layers'] = [describe(layer) for layer in tree.layerOrder()]
answer['drawn'] = [draw(wanted) for wanted in task.get('draw', [])]
if 'connections' in task:
    answer['connections'] = connections(task['connections'])
print(json.dumps(answer))
sys.stdout.flush()
app.exitQgis()
