# the folder with the variables was left behind
import shutil
from saved_model import *

saved_model("m")
shutil.rmtree("m/variables")
